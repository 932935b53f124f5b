#include "report/svg.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace fewbit::solver {

namespace {

/// Two decimals at most: a hundredth of a pixel, and the same text everywhere.
std::string pixels(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

/// Room between a text and the picture's end.
constexpr double kMargin = 2.0;

constexpr std::string_view kLight =
    "--ink:#1f2328;--soft:#59636e;--rule:#d1d9e0;--faint:#afb8c1;--curve:#0969da;--step:#bc4c00;"
    "--s0:#0969da;--s1:#bc4c00;--s2:#1a7f37;--s3:#8250df;--s4:#9a6700;--s5:#bf3989;--s6:#1b7c83;--"
    "s7:#57606a";
constexpr std::string_view kDark =
    "--ink:#e6edf3;--soft:#9198a1;--rule:#3d444d;--faint:#656c76;--curve:#58a6ff;--step:#ffa657;"
    "--s0:#58a6ff;--s1:#ffa657;--s2:#56d364;--s3:#d2a8ff;--s4:#e3b341;--s5:#ff9bce;--s6:#39c5cf;--"
    "s7:#afb8c1";

constexpr std::string_view kClasses =
    ".t{font:12px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:var(--soft)}"
    ".title{font-size:19px;font-weight:600;fill:var(--ink)}.ink{fill:var(--ink)}"
    ".code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
    "font-size:11px;fill:var(--step)}.small{font-size:11px}"
    ".grid{stroke:var(--rule);stroke-width:1;stroke-opacity:.55}.axis{stroke:var(--faint);"
    "stroke-width:1}.cut{stroke:var(--step);stroke-width:1;stroke-opacity:.35;stroke-dasharray:2 4}"
    ".curve{fill:none;stroke:var(--curve);stroke-width:2.25;stroke-linejoin:round;"
    "stroke-linecap:round}.step{stroke:var(--step);stroke-width:2.75}"
    ".rise{stroke:var(--step);stroke-width:1;stroke-opacity:.75}"
    ".level{stroke:var(--step);stroke-width:1.25;stroke-opacity:.8;stroke-dasharray:6 4}"
    ".lead{stroke:var(--step);stroke-width:.75;stroke-opacity:.6;fill:none}"
    ".density{fill:var(--soft);fill-opacity:.18;stroke:none}"
    ".goal{stroke:var(--soft);stroke-width:1;stroke-dasharray:4 3}";

std::string series_classes() {
  std::string css;
  for (size_t i = 0; i < kSeriesStyles; ++i) {
    css += fmt::format(
        ".m{0}{{fill:var(--s{0})}}.l{0}{{fill:none;stroke:var(--s{0});"
        "stroke-width:1.75}}",
        i);
  }
  return css;
}

}  // namespace

double text_width(std::string_view css, std::string_view text) {
  // All bytes but those that continue a UTF-8 character.
  const auto characters = static_cast<double>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
  if (css == "title") return characters * 19 * 0.62;
  if (css == "code") return characters * 11 * 0.62;
  return characters * (css == "small" ? 11 : 12) * 0.6;
}

std::string escape_xml(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

Svg::Svg(double width, double height, std::string label)
    : width_(width), height_(height), label_(std::move(label)) {}

void Svg::line(std::string_view css, double x1, double y1, double x2, double y2) {
  body_ += fmt::format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", css,
                       pixels(x1), pixels(y1), pixels(x2), pixels(y2));
}

void Svg::polyline(std::string_view css, const std::vector<Point>& points) {
  body_ += fmt::format("<polyline class=\"{}\" points=\"", css);
  for (size_t i = 0; i < points.size(); ++i) {
    body_ += fmt::format("{}{},{}", i > 0 ? " " : "", pixels(points[i].x), pixels(points[i].y));
  }
  body_ += "\"/>\n";
}

void Svg::rectangle(std::string_view css, double x, double y, double width, double height) {
  body_ += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", css,
                       pixels(x), pixels(y), pixels(width), pixels(height));
}

void Svg::marker(std::string_view css, size_t shape, double x, double y, std::string_view hint) {
  const char* path = "M-4 0A4 4 0 1 0 4 0A4 4 0 1 0 -4 0Z";
  if (shape % 4 == 1) path = "M-3.5 -3.5H3.5V3.5H-3.5Z";
  if (shape % 4 == 2) path = "M0 -4.8L4.4 3.4H-4.4Z";
  if (shape % 4 == 3) path = "M0 -5L5 0L0 5L-5 0Z";
  body_ += fmt::format("<path class=\"{}\" d=\"{}\" transform=\"translate({} {})\">", css, path,
                       pixels(x), pixels(y));
  if (!hint.empty()) body_ += "<title>" + escape_xml(hint) + "</title>";
  body_ += "</path>\n";
}

void Svg::text(std::string_view css, double x, double y, std::string_view anchor,
               std::string_view content) {
  const double room = width_ - 2 * kMargin;
  const double width = std::min(text_width(css, content), room);
  const double share = anchor == "start" ? 0.0 : (anchor == "end" ? 1.0 : 0.5);
  const double left = std::clamp(x - share * width, kMargin, kMargin + room - width);
  body_ += fmt::format("<text class=\"t {}\" x=\"{}\" y=\"{}\" text-anchor=\"{}\"", css,
                       pixels(left + share * width), pixels(y), anchor);
  if (text_width(css, content) > room) {
    body_ += fmt::format(" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"", pixels(room));
  }
  body_ += ">" + escape_xml(content) + "</text>\n";
}

std::string Svg::str(bool standalone) const {
  const std::string size = fmt::format("{} {}", pixels(width_), pixels(height_));
  std::string text = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + size + "\"";
  if (standalone)
    text += fmt::format(" width=\"{}\" height=\"{}\"", pixels(width_), pixels(height_));
  text += label_.empty() ? " aria-hidden=\"true\">\n"
                         : " role=\"img\" aria-label=\"" + escape_xml(label_) + "\">\n";
  if (standalone) {
    text += "<title>" + escape_xml(label_) + "</title>\n<style>" + svg_style("svg") + "</style>\n";
  }
  return text + body_ + "</svg>\n";
}

std::string svg_style(std::string_view scope) {
  return fmt::format("{0}{{{1}}}@media(prefers-color-scheme:dark){{{0}{{{2}}}}}", scope, kLight,
                     kDark) +
         std::string(kClasses) + series_classes();
}

}  // namespace fewbit::solver
