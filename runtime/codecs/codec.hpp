#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "ops/rotated.hpp"
#include "ops/rotated_by_class.hpp"
#include "ops/rotated_low_rank.hpp"

/// How a saved tensor is stored: as plain tensors, and back. Codecs have no state; what is stored
/// knows how to come back.
namespace fewbit::codecs {

using ops::RandomStream;
using ops::RotatedCodes;

/// A run of elements in the order of their memory, as a codec stores it.
class Encoded {
 public:
  virtual ~Encoded() = default;
  /// The run again: flat, of its type, on its device. In any thread, as often as is asked.
  virtual at::Tensor decoded() const = 0;
  /// Whether parts of it come back at the cost of their share.
  virtual bool has_parts() const { return false; }
  /// Elements [begin, end) of what is decoded.
  virtual at::Tensor decoded(int64_t begin, int64_t end) const {
    return decoded().slice(0, begin, end);
  }
  /// All that is held, but for what waits to be coded (small_runs.hpp).
  virtual at::TensorList tensors() const = 0;
  /// How many times it holds each of them.
  virtual uint32_t references() const { return 1; }
};

class SmallRuns;

/// What coding found out besides.
struct Watched {
  std::shared_ptr<const Encoded> run;  ///< null where only a look at the elements finds out
  bool has_suspects;  ///< whether one may hold more than an eighth of its neighbours' energy
};

class Codec {
 public:
  virtual ~Codec() = default;
  /// "rotated".
  virtual std::string name() const = 0;
  /// Of an element, constants aside; 0: as many as the values need, or no codes.
  virtual double bits() const { return 0.0; }
  virtual bool takes(const at::Tensor& x) const = 0;
  /// Whether what its norm makes of the codes has the signs of what it makes of x, but where that
  /// is 0 up to rounding.
  virtual bool keeps_signs() const { return false; }
  /// x: dense, without gradient, taken in the order of its memory. Null where its values are none
  /// that the codec holds.
  virtual std::shared_ptr<const Encoded> encode(const at::Tensor& x,
                                                const RandomStream& random) const = 0;
  /// The same; x may wait to be coded with others, and is not to change until then.
  virtual std::shared_ptr<const Encoded> encode_among(SmallRuns& /*others*/, const at::Tensor& x,
                                                      const RandomStream& random) const {
    return encode(x, random);
  }
  /// The same of a run on a CPU, where that finds suspects at little cost (codecs/extremes.hpp).
  virtual Watched encode_watched(const at::Tensor& /*x*/, const RandomStream& /*random*/) const {
    return {nullptr, true};
  }
};

using CodecPointer = std::shared_ptr<const Codec>;

/// "rotated, 2 bits".
std::string text_of(const Codec& codec);
/// "1 bit", "2.25 bits".
std::string bits_text(double bits);

/// Bytes of all that a codec will hold of x, which it takes, found without a look at x's elements:
/// by encoding on the Meta device. None where they depend on these. Without what extremes_apart
/// (codecs/extremes.hpp), which stands around every codec that rounds at random, stores besides.
std::optional<int64_t> bytes_ahead(const Codec& codec, const at::Tensor& x);

/// Elements that share constants: 64, 128, 256, 512 or 1024.
constexpr bool is_group(int64_t elements) {
  return elements >= 64 && elements <= 1024 && (elements & (elements - 1)) == 0;
}

/// Rotation and the best table for N(0, 1), or a trellis: ops/rotated.hpp. 1 to 8 bits. Least
/// error, without bias to speak of.
CodecPointer rotated(const RotatedCodes& form);

/// What is known of the elements of a run before they are coded: the class that each is of, out of
/// codes that are saved in any case, as those of an activation tell where its input lay.
struct Classes {
  int count = 0;  ///< so many there are, at most ops::kMostClasses
  std::function<ops::ElementClasses()> of_elements;  ///< in the order of memory
  std::optional<int> zero;                           ///< the class of which all elements are 0
  /// The same of a part, where that takes its share of time and memory.
  std::function<ops::ElementClasses(const ops::Part&)> of_part = nullptr;
};

/// Rotated after an affine map of each class, to mean 0 and, nearly, equal deviations: what the
/// classes tell costs nothing, and what is left is coded. Of what GELU and SiLU make of N(0, 1),
/// given 3 bits of their derivatives, the squared error is 12 and 37 times less than rotated's, of
/// what relu makes 3.7 times.
///
/// An element x of class c is coded as (x - m_c) / w_c, so that its error is w_c^2 times that of
/// what is rotated, which is D sum_c p_c s_c^2 / w_c^2 for all (D: the table's, p_c: the class's
/// share, s_c: its deviation). w_c ~ sqrt(s_c) makes the sum of errors least: D (sum_c p_c s_c)^2.
/// Means and deviations are those of every so many-th element, which does no harm: whatever they
/// are, the codes have no bias. A class that is 0 comes back as 0.
///
/// Stores what rotated stores and two numbers for each class, but not what tells classes. Without
/// classes it takes nothing, and is good for its name alone. Throws c10::Error for more than
/// ops::kMostClasses; where there are not as many codes as elements, encoding does.
CodecPointer rotated_by_class(const RotatedCodes& form, Classes classes);

/// Directions of channels that much of a tensor's energy lies along, as it did in an earlier
/// tensor.
struct Directions {
  at::Tensor basis;         ///< ops::basis_of: rows are nearly orthonormal
  ops::ChannelPlace place;  ///< of the tensor's elements in the order of memory
  int bits = 4;             ///< of a coefficient, 1 to 8
};

/// Bits that these take, for each of so many elements: of coefficients, their constants and the
/// basis.
double bits_of_directions(const Directions& directions, int64_t elements);

/// Rotated, of what is left of x once its part along the directions is taken off. The coefficients
/// are coded by rotated, too; what that loses of them is in what is left, so few bits of theirs
/// serve any number of bits of the rest, and the sum has no bias whatever the directions are, nor
/// more error, but for rounding, than without. Stores the basis besides, which all tensors of a
/// site share. (As gradients are sent in few directions: Vogels, Karimireddy and Jaggi, PowerSGD,
/// NeurIPS 2019.) Takes no doubles. Without directions it takes nothing, and is good for its name.
CodecPointer low_rank(const RotatedCodes& form, Directions directions);

/// Steps between a group's least and greatest element, rounded at random: ops/group.hpp. 1 to 8
/// bits. Without any bias, and never beyond these two.
CodecPointer grouped(int bits, int64_t group = 256);

/// The same between levels at the squares of such steps: half of the error and less where few
/// elements of a group are large and none is below zero, as of probabilities.
CodecPointer squares(int bits, int64_t group = 256);

/// Grouped by sample (index of dimension 0), each in groups and bits of its own, as ActNN spends
/// them: ops/group_samples.hpp. bits: uint8 [samples] on a CPU, 1 to 8 each, copied; stored with
/// the codes. Takes tensors of so many samples that are one after the other in memory. Throws
/// c10::Error for other bits.
CodecPointer grouped(const at::Tensor& bits, int64_t group = 256);

/// The same with bits of its own choice, so many on average: one for each sample, and the others in
/// turn where they take most off the sum of squared errors, which falls with the squares of a
/// sample's ranges and steps (Chen et al., ActNN, ICML 2021, section 4.2: there by a heap on the
/// host, here by one sort). bits: 1 to 8. What has no samples that are one after the other in
/// memory, or is not on the CPU, is grouped as a whole, in whole bits.
CodecPointer grouped_by_sample(double bits, int64_t group = 256);

/// Means of blocks of `block` elements a dimension in bfloat16, and what is left in `bits`, 1 to 8,
/// as DIVISION stores what images consist of (Wang et al., DIVISION: Memory Efficient Training via
/// Dual Activation Precision, 2022): without any bias, and off by a step at most. Takes x [N, C,
/// ...] with 1 to 3 dimensions behind the channels, of any sizes; the last block of each may be
/// smaller. Of every sample's channel the elements less their means, as rounded, are coded as
/// grouped codes a group, so by 4 bytes of constants: by 4 for every 1,024 elements where there are
/// more. A NaN or an infinity makes these NaN. Throws c10::Error for a block below 1.
CodecPointer frequency_split(int bits, int64_t block = 8);

/// A norm: (x - mean) / sqrt(variance + epsilon) * weight + bias, both of these where defined.
struct Norm {
  std::vector<int64_t> over;  ///< dimensions that means and variances are taken over,
  int64_t groups = 0;         ///< of x with dimension 1 split into so many groups; 0: as it is
  double epsilon = 0.0;
  at::Tensor weight = {}, bias = {};  ///< shaped to broadcast with x
};

/// The input of a norm, by what the norm makes of it: `bits`, 1 to 8, say in which of 2^bits equal
/// bins from bias - 3 weight to bias + 3 weight the output lies, which comes back as the bin's
/// middle and from there the input (Chakrabarti and Moseley, Backprop with Approximate Activations
/// for Memory-efficient Network Training, NeurIPS 2019). An edge is at 0 and a bin at least on each
/// side, so that an output of what comes back has the sign that it had; where the bias is that
/// large that nearly all have one sign, the other bins lie about the bias. Rounds to nearest: has a
/// bias, the more the fewer bits. Stores means and deviations, and two numbers for each weight.
/// Takes what the weights broadcast with. A NaN or an infinity makes all NaN that shares their
/// mean. Throws c10::Error for other bits.
CodecPointer normal_fixed_point(int bits, const Norm& norm);

/// Of the input of a norm, shaped to broadcast with it, as the norm saves them for its own
/// gradient.
struct Statistics {
  at::Tensor mean;             ///< undefined: 0
  at::Tensor factor;           ///< 1 / sqrt(variance + epsilon)
  int64_t groups = 0;          ///< of x with dimension 1 split into so many groups; 0: as it is
  bool is_kept_anyway = true;  ///< else whoever codes by them stores them
};

/// Of rows [first, last), indices of dimension 0, of an x of so many dimensions.
Statistics statistics_of_rows(const Statistics& statistics, int64_t dimensions, int64_t first,
                              int64_t last);

/// mean: undefined where it counts as 0. factor: at least 0, as norms save it; who uses them takes
/// 0 as 1e-30, and what is not finite as 1.
Statistics statistics_of(const at::Tensor& mean, const at::Tensor& factor, int64_t groups = 0);

/// (x - mean) factor, float or double, laid out as x.
at::Tensor normalized(const at::Tensor& x, const Statistics& statistics);

/// The inner codec, for what the norm makes of its input. Rows or channels of small energy have
/// smaller errors than those of large energy in their group. A mean far greater than the deviations
/// costs nothing. Stores what the inner codec stores, and the statistics where the norm does not
/// save them. One pass more there, and one back. Without statistics it takes nothing, and is good
/// for its name.
CodecPointer normalized(CodecPointer inner, const Statistics& statistics);

/// A floating-point type of fewer bytes, rounded to nearest even: bfloat16, float8_e4m3fn or
/// float8_e5m2 (Micikevicius et al., FP8 Formats for Deep Learning, 2022). Finite values beyond the
/// type's largest are stored as that; NaN stays NaN; an infinity stays one, but is NaN in e4m3,
/// which has none. Takes float, bfloat16 and half where they are larger; not double, which torch
/// rounds twice. Throws c10::Error for another type.
CodecPointer cast(at::ScalarType type);

/// A copy: what other codecs are measured against. Of any type.
CodecPointer identity();

/// Zeros and one other value, as a mask that scales has: 1 bit, exact. Of float types and bool.
CodecPointer mask();

/// Integers by the least bits that hold their range: exact. On a device waits for it.
CodecPointer integers();

/// Integers from 0 to bound - 1, by the bits that these take, without a look at them: exact. Throws
/// c10::Error for a bound below 1.
CodecPointer integers_below(int64_t bound);

/// Windows of a pooling operation over planes of 2 or 3 dimensions.
struct Windows {
  std::vector<int64_t> plane;  ///< sizes of the input's
  std::vector<int64_t> kernel, stride, padding, dilation;
};

/// Where in its window the greatest element of each is, for indices into the plane as pooling gives
/// them, int64 [..., rows, columns]: 2 bits for windows of 2 x 2. Exact, without a look at them.
/// Throws c10::Error where the lists are of different lengths.
CodecPointer places(const Windows& windows);

/// Sizes and strides alone; comes back as NaN.
CodecPointer sizes_only();

}  // namespace fewbit::codecs
