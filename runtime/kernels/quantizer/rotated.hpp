#pragma once

#include <cstdint>

#include "kernels/element_type.hpp"
#include "kernels/philox.hpp"
#include "kernels/quantizer/element_classes.hpp"
#include "kernels/quantizer/low_rank.hpp"
#include "kernels/stream/code_stream.hpp"

/// Rotated quantisation of a flat run of elements, group by group, in few bits and without bias.
///
/// Stored of a group x of G elements: its mean m; the codes of u = H S H S (x - m) / s, in which S
/// are random signs, H is the Walsh-Hadamard transform (entries +-1) and s = |x - m| sqrt(G), by
/// the best table for N(0, 1), since whatever x was, u looks like that; and the factor
/// f = s / sum_i u_i q_i, with q_i the level of u_i's code. Decoded is m + f S H S H q / G: its
/// projection on x - m is right, and what is left over has no mean over the signs but for terms of
/// the order of 1 / G. Twice, because once makes of a single great element equal numbers, of which
/// 1 and 2 bits lose the rest, and of a group's error where its energy lies in one block more of it
/// there. (Rotation: Suresh, Yu, Kumar, McMahan, ICML 2017; the factor: Vargaftik et al., EDEN,
/// ICML 2022, both for gradients that are sent between machines.)
///
/// Everything is computed in float, in one order on every device, so that codes and decoded values
/// are the same everywhere: sums add elements at distance G / 2, then G / 4, ... 1; H takes the
/// same distances in the same order; no multiplication is fused with an addition. The mean is
/// rounded to bf16 before it is used. The factor is rounded to 8 bits behind the point, at random
/// with the factor as mean (group_factor.hpp): to nearest it would be off by the same amount in
/// nearly every draw, which 7 and 8 bits show. For fp64 both are stored as doubles (they are floats
/// as long as these can hold them).
///
/// With a trellis, the codes of a group are those of least squared error together, of elements u
/// (generated/trellis_quantizer.hpp; equal paths: that whose oldest bit in which they differ is
/// clear); decoding knows a code's level by the codes before it in its group.
///
/// A short last group is filled up with its mean. Elements of the sign stream: bit e % 32 of word
/// (e / 32) % 4 of philox(e / 128), e the element's place in the run; set means minus. A part of a
/// run is coded as a run whose signs begin with those of its first element.
///
/// A group with an element that is not finite comes back as NaN. Where squares leave the range of
/// float (below 1e-15, above 1e15 or so) a group is scaled by a power of two first. Decoded values
/// are clamped to the finite range of the type.
///
/// With classes, on a CPU: of types without f64, of which the map of each element's class is coded,
/// and what is decoded is mapped by another, back.
namespace fewbit::kernels {

inline constexpr int64_t kMostRotated = 1024;
inline constexpr int64_t kSignsOfDraw = 128;
inline constexpr int kMostTrellisBits = 4;

struct RotatedFormat {
  ElementType type;
  int bits;       ///< of a code, 1 to 8
  int64_t group;  ///< 64, 128, 256, 512 or 1024
  int64_t count;  ///< elements of the whole run
  PhiloxState signs;
  int states = 0;  ///< of the trellis that picks codes of up to 4 bits: 4, 8; 0: none
  const ElementClasses* classes = nullptr;  ///< none: elements as they are
  const LowRank* low_rank = nullptr;        ///< the same; not with classes
  /// On a CPU set where an element may hold more than an eighth of its group's energy.
  bool* has_suspects = nullptr;

  int64_t groups() const { return count / group + (count % group != 0); }
  /// The codes are one stream (code_stream.hpp), that of whole groups.
  int64_t coded_elements() const { return groups() * group; }
  int64_t code_bytes_of_group() const { return group / 8 * bits; }
  /// Mean and factor: 16 bits each, or two doubles for fp64.
  int64_t constant_bytes_of_group() const { return type == ElementType::f64 ? 16 : 4; }
};

/// Groups [begin, end) of a run. Pointers are to the run's first element, code and constant.
struct GroupRange {
  int64_t begin;
  int64_t end;
};

/// Codes have room for code_bytes(coded_elements(), bits); the last group's range writes the zeros
/// at their end.
void rotated_encode(const RotatedFormat& format, const void* x, uint8_t* codes, void* constants,
                    GroupRange range);

void rotated_decode(const RotatedFormat& format, const uint8_t* codes, const void* constants,
                    void* x, GroupRange range);

/// The squared error of what is decoded over the energy of Gaussian elements, their mean left out:
/// D / (1 - D), D the table's own, since the factor makes up for what the table takes off.
double rotated_error(int bits, int states = 0);

}  // namespace fewbit::kernels
