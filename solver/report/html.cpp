#include <fmt/format.h>

#include "report/document.hpp"
#include "report/svg.hpp"

namespace fewbit::solver {

namespace {

// The gradients of .scroll are its cue: shades at both ends (scroll) that covers (local) hide once
// the table has been moved to that end. Cells have no ground of their own, so that they show.
constexpr std::string_view kPageStyle = R"(
:root{color-scheme:light dark;--page:#fff;--card:#f6f8fa;--shade:rgba(31,35,40,.22)}
@media(prefers-color-scheme:dark){:root{--page:#0d1117;--card:#151b23;
--shade:rgba(200,215,230,.24)}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);line-height:1.5;--ground:var(--page);
font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif}
header,main{max-width:1240px;margin:0 auto;padding:0 20px}
header{padding-top:36px}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 8px}
h2{font-size:1.3rem;margin:44px 0 8px;padding-top:10px;border-top:1px solid var(--rule)}
p{margin:8px 0;max-width:76ch;color:var(--soft)}
p,dd,figcaption{overflow-wrap:anywhere}
nav{display:flex;flex-wrap:wrap;gap:4px 18px;margin:14px 0 0}
a{color:var(--curve);text-decoration:none}a:hover{text-decoration:underline}
.cards{display:grid;gap:14px;margin:14px 0;align-items:start;
grid-template-columns:repeat(auto-fill,minmax(min(100%,340px),1fr))}
figure{margin:0;padding:12px 14px 8px;background:var(--card);border:1px solid var(--rule);
border-radius:10px;min-width:0;--ground:var(--card)}
figcaption{margin-bottom:6px;font-size:.84rem;color:var(--soft);font-variant-numeric:tabular-nums}
figcaption b{display:block;font-size:.95rem;color:var(--ink)}
svg{display:block;width:100%;max-width:460px;height:auto;margin:0 auto}
.key{display:flex;flex-wrap:wrap;gap:4px 20px;padding:0;margin:10px 0;list-style:none;
font-size:.88rem}.key svg{display:inline-block;width:14px;height:14px;margin-right:7px;
vertical-align:-2px}
.scroll{overflow-x:auto;width:fit-content;max-width:100%;margin:14px 0;border:1px solid var(--rule);border-radius:10px;
background:linear-gradient(to right,var(--ground) 40%,transparent) left/52px 100% no-repeat local,
linear-gradient(to left,var(--ground) 40%,transparent) right/52px 100% no-repeat local,
linear-gradient(to right,var(--shade),transparent) left/22px 100% no-repeat scroll,
linear-gradient(to left,var(--shade),transparent) right/22px 100% no-repeat scroll}
table{border-collapse:collapse;font-size:.87rem;font-variant-numeric:tabular-nums}
th,td{padding:5px 12px;text-align:left;white-space:nowrap;font-weight:400}
thead th{color:var(--soft);font-weight:600}
tbody tr>*{border-top:1px solid var(--rule)}
th.n,td.n{text-align:right}
main>section>.scroll tr>:first-child{position:sticky;left:0;background:var(--ground);
box-shadow:1px 0 var(--rule)}
details{font-size:.84rem;margin:4px 0}
summary{cursor:pointer;color:var(--curve);padding:4px 0}
details .scroll{margin:6px 0;max-height:340px}
details table{font-size:.8rem}details th,details td{padding:3px 8px}
dl{display:grid;grid-template-columns:auto minmax(0,1fr);gap:4px 18px;font-size:.9rem}
dt{color:var(--soft)}dd{margin:0}
code{font:.92em ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}
footer{height:60px}
@media(max-width:480px){header,main{padding:0 12px}header{padding-top:20px}
figure{padding:10px 8px 6px}
main>section>.scroll tr>:first-child{white-space:normal;overflow-wrap:break-word;max-width:40vw}
main>section>.scroll :is(th,td){padding:5px 9px}}
)";

std::string cells_of(const Grid& grid, const std::vector<GridCell>& row) {
  std::string text;
  for (size_t i = 0; i < row.size(); ++i) {
    if (grid.columns[i].only_csv) continue;
    const std::string css = grid.columns[i].numeric ? " class=\"n\"" : "";
    std::string content = escape_xml(row[i].text);
    if (grid.columns[i].code) content = fmt::format("<code>{}</code>", content);
    text += i == 0 ? fmt::format("<th scope=\"row\"{}>{}</th>", css, content)
                   : fmt::format("<td{}>{}</td>", css, content);
  }
  return text;
}

/// `label` names the table to those who do not see what is above it.
std::string grid_of(const Grid& grid, const std::string& label) {
  std::string text = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>\n<thead><tr>",
      escape_xml(label));
  for (const auto& column : grid.columns) {
    if (column.only_csv) continue;
    text += fmt::format("<th scope=\"col\"{}>{}</th>", column.numeric ? " class=\"n\"" : "",
                        escape_xml(column.name));
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const auto& row : grid.rows) text += "<tr>" + cells_of(grid, row) + "</tr>\n";
  return text + "</tbody>\n</table></div>\n";
}

std::string legend_of(const std::vector<Key>& keys) {
  std::string text = "<ul class=\"key\">";
  for (const auto& key : keys) {
    Svg svg(14, 14, "");
    svg.marker(fmt::format("m{}", key.style % kSeriesStyles), key.style, 7, 7);
    text += "<li>" + svg.str(false) + escape_xml(key.name) + "</li>";
  }
  return text + "</ul>\n";
}

std::string figure_of(const Figure& figure) {
  std::string text = fmt::format("<figure><figcaption><b>{}</b>{}</figcaption>\n{}",
                                 escape_xml(figure.title), escape_xml(figure.caption), figure.svg);
  if (!figure.details.rows.empty()) {
    text += "<details><summary>" + escape_xml(figure.details_title) + "</summary>\n" +
            grid_of(figure.details, figure.title + ": " + figure.details_title) + "</details>\n";
  }
  return text + "</figure>\n";
}

std::string html_of(const Section& section) {
  std::string text = fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", escape_xml(section.id),
                                 escape_xml(section.title));
  for (const auto& note : section.notes) text += "<p>" + escape_xml(note) + "</p>\n";
  if (!section.grid.rows.empty()) text += grid_of(section.grid, section.title);
  if (section.figures.empty()) return text + "</section>\n";
  if (!section.legend.empty()) text += legend_of(section.legend);
  text += "<div class=\"cards\">\n";
  for (const auto& figure : section.figures) text += figure_of(figure);
  return text + "</div>\n</section>\n";
}

std::string link_to(const std::string& id, const std::string& title) {
  return fmt::format("<a href=\"#{}\">{}</a> ", escape_xml(id), escape_xml(title));
}

std::string provenance_of(const Document& document) {
  std::string text = "<section id=\"provenance\">\n<h2>Provenance</h2>\n<dl>\n";
  for (const auto& [what, line] : document.provenance) {
    text += "<dt>" + escape_xml(what) + "</dt><dd><code>" + escape_xml(line) + "</code></dd>\n";
  }
  return text + "</dl>\n</section>\n";
}

}  // namespace

std::string to_html(const Document& document) {
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  text += "<title>" + escape_xml(document.title) + "</title>\n<style>" + svg_style(":root") +
          std::string(kPageStyle) + "</style>\n</head>\n<body>\n<header>\n<h1>" +
          escape_xml(document.title) + "</h1>\n<p>" + escape_xml(document.summary) +
          "</p>\n<nav aria-label=\"Sections\">";
  for (const auto& section : document.sections) text += link_to(section.id, section.title);
  if (!document.provenance.empty()) text += link_to("provenance", "Provenance");
  text += "</nav>\n</header>\n<main>\n";
  for (const auto& section : document.sections) text += html_of(section);
  if (!document.provenance.empty()) text += provenance_of(document);
  return text + "</main>\n<footer></footer>\n</body>\n</html>\n";
}

}  // namespace fewbit::solver
