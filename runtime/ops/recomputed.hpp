#pragma once

#include <optional>

#include <ATen/core/Tensor.h>

/// Operations of library `fewbit` that compute what torch's do. What they save for backward
/// tolerates an error of its own: none of it has to agree with another saved tensor.
///
///   log_softmax(Tensor x, int dim, bool half_to_float=False) -> Tensor
///       saves the probabilities, in which the gradient dx = dy - p sum(dy) is linear, but the
///       greatest of each row, exactly, in a tensor of its own with its place: 5 to 8 bytes a row
///       in float. Torch saves their logarithms, whose errors go into an exponent.
///   attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None,
///             float dropout_p=0.0, bool is_causal=False, *, float? scale=None,
///             bool enable_gqa=False) -> Tensor
///       saves query, key and value, and runs again in backward: with dropout from the state that
///       torch's generator was in, 5 kB on a CPU that the meter does not see. Where another thread
///       draws other numbers from that generator meanwhile backward refuses. A mask may change
///       after the forward: backward uses it as it was, of which a bit an element of bool is saved,
///       a copy of other types, expanded dimensions once.
///       Torch also saves its output and the logarithm of its sums, which would belong to other
///       queries and keys than those that come back.
///
/// Arguments are those of torch's _log_softmax and scaled_dot_product_attention; a mask gets no
/// gradient, which attention refuses. Backward runs once: differentiating it again is refused.
namespace fewbit::ops {

at::Tensor log_softmax(const at::Tensor& x, int64_t dim, bool half_to_float);

struct AttentionOptions {
  at::Tensor mask;       ///< undefined: none
  double dropout = 0.0;  ///< probability
  bool is_causal = false;
  std::optional<double> scale;
  bool has_groups = false;  ///< more query heads than key heads
};

at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const AttentionOptions& options);

/// As torch takes it.
inline std::optional<at::Tensor> given(const at::Tensor& mask) {
  return mask.defined() ? std::optional(mask) : std::nullopt;
}

/// Whether torch's own runs by the same kernel where a graph is made as where none is, so that it
/// draws the same random numbers for both.
bool draws_alike(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                 const AttentionOptions& options);

/// Torch's own.
at::Tensor torch_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                           const AttentionOptions& options);

using AttentionSignature = at::Tensor(const at::Tensor& query, const at::Tensor& key,
                                      const at::Tensor& value,
                                      const std::optional<at::Tensor>& mask, double dropout,
                                      bool is_causal, std::optional<double> scale, bool has_groups);

}  // namespace fewbit::ops
