#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "weights/byte_source.hpp"
#include "weights/item_type.hpp"

namespace fewbit::solver {

/// What the header of a .npy file says of its data.
struct NpyHeader {
  ItemType type;
  bool fortran_order = false;
  std::vector<size_t> shape;
  size_t bytes = 0;  ///< of magic, version and dictionary
};

/// What every .npy file begins with.
inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

/// Reads magic, version and dictionary from a source at its start and leaves it at the first byte
/// of data. Accepted are floats of 2, 4 and 8 bytes in either byte order, and the 2-byte voids as
/// which NumPy writes bfloat16; with `integers_are_bf16` also 16-bit integers, as which PyTorch's
/// users write it. Source: the format description of numpy.lib.format, versions 1.0 to 3.0. Throws
/// Error with the source's name.
NpyHeader read_npy_header(ByteSource& source, bool integers_are_bf16);

}  // namespace fewbit::solver
