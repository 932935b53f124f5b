#include <fmt/format.h>

#include "report/document.hpp"
#include "report/svg.hpp"

namespace fewbit::solver {
inline namespace reporting {

namespace {

constexpr std::string_view kPageStyle = R"(
:root{color-scheme:light dark;--page:#fff;--card:#f6f8fa}
@media(prefers-color-scheme:dark){:root{--page:#0d1117;--card:#151b23}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);line-height:1.5;
font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif}
header,main{max-width:1240px;margin:0 auto;padding:0 20px}
header{padding-top:36px}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 8px}
h2{font-size:1.3rem;margin:44px 0 8px;padding-top:10px;border-top:1px solid var(--rule)}
p{margin:8px 0;max-width:76ch;color:var(--soft)}
nav{display:flex;flex-wrap:wrap;gap:4px 18px;margin:14px 0 0}
a{color:var(--curve);text-decoration:none}a:hover{text-decoration:underline}
.cards{display:grid;gap:14px;margin:14px 0;
grid-template-columns:repeat(auto-fill,minmax(min(100%,340px),1fr))}
figure{margin:0;padding:12px 14px 8px;background:var(--card);border:1px solid var(--rule);
border-radius:10px;min-width:0}
figure.wide{grid-column:1/-1;overflow-x:auto}
figure.wide svg{min-width:560px;max-width:860px}
figcaption{margin-bottom:6px;font-size:.84rem;color:var(--soft);font-variant-numeric:tabular-nums}
figcaption b{display:block;font-size:.95rem;color:var(--ink)}
svg{display:block;width:100%;height:auto}
.key{display:flex;flex-wrap:wrap;gap:4px 20px;padding:0;margin:10px 0;list-style:none;
font-size:.88rem}.key svg{display:inline-block;width:14px;height:14px;margin-right:7px;
vertical-align:-2px}
.scroll{overflow-x:auto;margin:14px 0;border:1px solid var(--rule);border-radius:10px}
table{border-collapse:collapse;width:100%;font-size:.87rem;font-variant-numeric:tabular-nums}
th,td{padding:5px 12px;text-align:left;white-space:nowrap}
th{color:var(--soft);font-weight:600;background:var(--card)}
tr+tr td,thead+tbody tr:first-child td{border-top:1px solid var(--rule)}
.n{text-align:right}
td:first-child,th:first-child{position:sticky;left:0;background:var(--page)}
th:first-child{background:var(--card)}
footer{height:60px}
)";

std::string grid_of(const Grid& grid) {
  std::string text = "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>";
  const auto css = [&](size_t i) { return grid.columns[i].numeric ? " class=\"n\"" : ""; };
  for (size_t i = 0; i < grid.columns.size(); ++i) {
    text += fmt::format("<th{}>{}</th>", css(i), escape_xml(grid.columns[i].name));
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const auto& row : grid.rows) {
    text += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      text += fmt::format("<td{}>{}</td>", css(i), escape_xml(row[i].text));
    }
    text += "</tr>\n";
  }
  return text + "</tbody>\n</table></div>\n";
}

std::string legend_of(const std::vector<Key>& keys) {
  std::string text = "<ul class=\"key\">";
  for (const auto& key : keys) {
    Svg svg(14, 14, key.name);
    svg.marker(fmt::format("m{}", key.style % kSeriesStyles), key.style, 7, 7);
    text += "<li>" + svg.str(false) + escape_xml(key.name) + "</li>";
  }
  return text + "</ul>\n";
}

std::string figure_of(const Figure& figure) {
  return fmt::format("<figure{}><figcaption><b>{}</b>{}</figcaption>\n{}</figure>\n",
                     figure.wide ? " class=\"wide\"" : "", escape_xml(figure.title),
                     escape_xml(figure.caption), figure.svg);
}

std::string section_of(const Section& section) {
  std::string text = fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", escape_xml(section.id),
                                 escape_xml(section.title));
  for (const auto& note : section.notes) text += "<p>" + escape_xml(note) + "</p>\n";
  if (!section.legend.empty()) text += legend_of(section.legend);
  if (!section.grid.rows.empty()) text += grid_of(section.grid);
  if (!section.figures.empty()) {
    text += "<div class=\"cards\">\n";
    for (const auto& figure : section.figures) text += figure_of(figure);
    text += "</div>\n";
  }
  return text + "</section>\n";
}

}  // namespace

std::string to_html(const Document& document) {
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  text += "<title>" + escape_xml(document.title) + "</title>\n<style>" + svg_style(":root") +
          std::string(kPageStyle) + "</style>\n</head>\n<body>\n<header>\n<h1>" +
          escape_xml(document.title) + "</h1>\n<p>" + escape_xml(document.summary) + "</p>\n<nav>";
  for (const auto& section : document.sections) {
    text +=
        fmt::format("<a href=\"#{}\">{}</a> ", escape_xml(section.id), escape_xml(section.title));
  }
  text += "</nav>\n</header>\n<main>\n";
  for (const auto& section : document.sections) text += section_of(section);
  return text + "</main>\n<footer></footer>\n</body>\n</html>\n";
}

}  // namespace reporting
}  // namespace fewbit::solver
