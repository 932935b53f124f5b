#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fewbit::solver {

/// One entry of a grid: as people read it, and exactly (for CSV; empty: the same).
struct GridCell {
  std::string text;
  std::string exact = {};
};

struct Column {
  std::string name;
  bool numeric = false;
  bool only_csv = false;  ///< for programs: too long for people's rows
  bool code = false;      ///< formulas: no sign in them is markup
};

struct Grid {
  std::vector<Column> columns;
  std::vector<std::vector<GridCell>> rows;
};

/// Inline SVG (written for svg_style) with its words, and figures that are unfolded on demand.
struct Figure {
  std::string title;
  std::string caption;
  std::string svg;
  std::string details_title = {};
  Grid details = {};
};

/// A colour and marker that figures of a section share.
struct Key {
  std::string name;
  size_t style;
};

struct Section {
  std::string id;
  std::string title;
  std::vector<std::string> notes;
  std::vector<Key> legend;
  std::vector<Figure> figures;
  Grid grid;
  bool in_csv = true;  ///< false: a digest of another section's grid
};

struct Document {
  std::string title;
  std::string summary;
  std::vector<Section> sections;
  std::vector<std::pair<std::string, std::string>> provenance = {};  ///< what, text of one line
};

/// GitHub-flavoured Markdown; of figures only the details.
std::string to_markdown(const Document& document);

/// RFC 4180 after one line "# what: text" for each part of the provenance; several grids are
/// separated by an empty line, each after a line "# title".
std::string to_csv(const Document& document);

/// One self-contained page: no scripts, no requests.
std::string to_html(const Document& document);

}  // namespace fewbit::solver
