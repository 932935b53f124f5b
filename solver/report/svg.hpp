#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/curve.hpp"

namespace fewbit::solver {

/// Classes m0, m1, ... (markers) and l0, l1, ... (lines) that svg_style knows.
constexpr size_t kSeriesStyles = 8;

/// A generous estimate of how wide `text` is in the class `css` (see svg_style), in pixels: viewers
/// choose the font, so layouts leave room for wide ones.
double text_width(std::string_view css, std::string_view text);

/// `text` with &, <, >, " replaced: safe inside XML and HTML, attributes too.
std::string escape_xml(std::string_view text);

/// The text of one SVG picture, built element by element. Looks come from CSS classes (svg_style),
/// so a picture follows its page into dark mode. Coordinates are pixels, y down.
class Svg {
 public:
  /// `label` is read aloud in place of the picture; without one the picture is decoration.
  Svg(double width, double height, std::string label);

  void line(std::string_view css, double x1, double y1, double x2, double y2);
  void polyline(std::string_view css, const std::vector<Point>& points);
  void rectangle(std::string_view css, double x, double y, double width, double height);
  /// A marker of one of four shapes, so that colour is never the only difference.
  void marker(std::string_view css, size_t shape, double x, double y, std::string_view hint = {});
  /// `anchor`: start, middle or end. Text that would leave the picture is moved inside, and
  /// squeezed where it is wider than the picture.
  void text(std::string_view css, double x, double y, std::string_view anchor,
            std::string_view content);
  /// Anything already written as SVG.
  void raw(std::string_view markup) { body_ += markup; }

  /// The element for a page; with `standalone` a document of its own that carries its style.
  std::string str(bool standalone) const;

 private:
  double width_;
  double height_;
  std::string label_;
  std::string body_;
};

/// CSS of the classes that pictures use; light, and dark where the viewer prefers it. `scope` is
/// the selector that carries the colours: "svg" in a picture of its own, ":root" in a page.
std::string svg_style(std::string_view scope);

}  // namespace fewbit::solver
