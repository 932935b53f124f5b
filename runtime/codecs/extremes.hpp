#pragma once

#include "codecs/codec.hpp"

namespace fewbit::codecs {

/// The codec, for runs in which some elements are so great that its error would drown the others.
/// Those elements are stored apart, and the codec codes what is left: the others have the error
/// that they have without such elements. Two kinds are looked for (kernels/quantizer/extremes.hpp):
///
///   fills: a number that many elements are or are near, as masks and padding put in. Stored
///   are 1 bit an element and the number. What is near it comes back with the error of the others,
///   what is equal exactly, what is within 2^-9 of it as the number. At most kMostFills of them.
///   few: at most 4 of 256 consecutive elements, that hold more than half of their energy.
///   Stored are their indices (int32; int64 beyond 2^31 elements) and their values, exactly.
///
/// Bytes depend on the elements here: bytes_ahead says what is held without such elements, and an
/// encoded run what it holds. A codec alone would hold numbers that say nothing of most elements.
/// On other devices than the CPU nothing is looked for: what is held would have to be waited for.
CodecPointer extremes_apart(CodecPointer codec);

inline constexpr int kMostFills = 4;

}  // namespace fewbit::codecs
