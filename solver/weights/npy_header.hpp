#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

namespace fewbit::solver {

/// What the header of a .npy file says of its data.
struct NpyHeader {
  size_t item_bytes = 0;  ///< 4 for '<f4', 8 for '<f8'
  bool fortran_order = false;
  std::vector<size_t> shape;
};

/// Reads magic, version and dictionary and leaves the stream at the first byte of data. Source: the
/// format description of numpy.lib.format, versions 1.0 to 3.0. Throws Error with `name`.
NpyHeader read_npy_header(std::istream& in, const std::string& name);

}  // namespace fewbit::solver
