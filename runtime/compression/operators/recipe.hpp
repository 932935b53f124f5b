#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "compression/operators/weight.hpp"

namespace fewbit::session {

/// A tensor that comes back whenever it is asked for.
struct Again {
  std::function<at::Tensor()> tensor;
  std::function<std::vector<at::Tensor>()> held;  ///< what it is computed from
  /// Whether its rows do at the cost of their share, which then are [first, last); null: they do
  /// not.
  std::function<bool()> has_rows = nullptr;
  std::function<at::Tensor(int64_t first, int64_t last)> rows = nullptr;
  /// Elements [begin, end) of its memory, which lies so; null: not at that cost.
  std::function<at::Tensor(int64_t begin, int64_t end)> elements = nullptr;
  std::vector<int64_t> sizes = {}, strides = {};
};

/// What a call takes with the argument that its result is recomputed from, as far as it is known.
struct Beside {
  std::optional<Again> codes;   ///< that a few-bit activation saves
  std::optional<Again> mask;    ///< that a dropout saves
  std::optional<Again> places;  ///< that a pooling saves, of the greatest in its planes
  std::optional<Again> addend;  ///< of a sum, the second one
};

/// How a tensor is recomputed from one argument of the operation that made it.
struct Recipe {
  std::string_view name;  ///< of the kind of recomputation
  at::Tensor from;        ///< the argument; of a call in place as it was before
  /// Of the argument as it comes back, which may share memory with the result.
  std::function<at::Tensor(const at::Tensor& from)> again;
  std::vector<at::Tensor> kept = {};  ///< what else it takes that autograd saves too,
  /// In its place, where there is a weight, which the model holds: too large for a copy,
  std::function<at::Tensor(const at::Tensor& from, const at::Tensor& weight)> by_weight = nullptr;
  Weight weight = {};
  std::vector<at::Tensor> copies = {};  ///< copies of small ones, which optimisers change,
  std::function<std::vector<at::Tensor>()> beside = nullptr;  ///< and what else comes back, if any
  /// Whether rows of the argument, which are indices of dimension 0, give those of the result
  /// alone.
  bool is_by_rows = false;
  /// The same where the first one's place matters.
  std::function<at::Tensor(const at::Tensor& rows, int64_t first)> of_rows = nullptr;
  std::function<bool()> has_rows_beside = nullptr;  ///< of what else it takes; null: it takes none
};

/// Kinds of recomputation:
///   copy        the same numbers, or all times one number, or with a layer's bias
///   norm        of the norm's input, by the statistics that are saved: linear in the input
///   relu        of its input and the bits of its sign, leaky_relu too: linear, zeros stay zeros
///   sign        the bits of relu's sign: of what a norm makes of codes that preserve it
///   dropout     of its input and the bits of its mask: linear, zeros stay zeros
///   sum         of two tensors that both come back: linear
///   activation  of its input, by the function itself: not linear
///   linear      of a layer's input, by its weight: linear, a matrix product
///   softmax     probabilities of log_softmax's input: not linear
/// and of parameters
///   cast        a parameter's cast in another type: exact
inline constexpr std::string_view kCopy = "copy", kNorm = "norm", kRelu = "relu", kSign = "sign",
                                  kDropout = "dropout", kSum = "sum",
                                  kActivationValue = "activation", kLinear = "linear",
                                  kSoftmax = "softmax", kCast = "cast";

/// All of these.
const std::vector<std::string_view>& recompute_kinds();

}  // namespace fewbit::session
