#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "codecs/codec.hpp"
#include "compression/consumers.hpp"
#include "trace/running_operations.hpp"

namespace fewbit::session {

/// The operation that keeps log_softmax's probabilities.
inline constexpr std::string_view kLogSoftmax = "fewbit::log_softmax";

/// How a saved tensor is kept.
enum class StorageKind {
  exact,          ///< left alone
  rotated,        ///< in bits out of the budget, by the codec with the least error
  probabilities,  ///< the same, few elements being large and many small
  mask,           ///< zeros and one other value
  integers,
  sizes,  ///< nothing of it but sizes is read
  bf16,
  e4m3,
  e5m2,       ///< cast, where a rule says so
  offloaded,  ///< exact, but in another memory, where a rule says so
  codes       ///< of an activation already: as they are, unless they leave or can be had again
};

constexpr bool is_cast(StorageKind storage) {
  return storage == StorageKind::bf16 || storage == StorageKind::e4m3 ||
         storage == StorageKind::e5m2;
}

struct SavePolicy {
  StorageKind storage = StorageKind::exact;
  /// What a squared error does to the gradient, relative to the tensor's energy, beside one of a
  /// tensor that the gradient is linear in.
  double weight = 0.0;
  bool is_norm = false;  ///< the tensor's mean is no part of that energy
  Factor factor = Factor::none;

  bool takes_bits() const {
    return storage == StorageKind::rotated || storage == StorageKind::probabilities;
  }
  /// Whether all elements are kept, in less than they take or elsewhere.
  bool keeps_elements() const {
    return takes_bits() || is_cast(storage) || storage == StorageKind::offloaded;
  }
};

/// Of what an operation saves. Operations that the list does not name, custom functions among them,
/// are left alone; parameters are, with their views and casts, and what
/// no gradient runs through, but for what dropout draws.
SavePolicy save_policy_of(const at::Tensor& tensor, const SaveEvent& event);

/// What a rule may call an operation: "aten::gelu_", "aten::gelu", "gelu", and libtorch's own name
/// of one that runs in another form.
std::vector<std::string_view> names_of(std::string_view operation);

/// Whether it is an activation of libtorch's.
bool is_activation(std::string_view operation);

/// Why what an operation saves is left alone, for a report.
std::string reason_left(const at::Tensor& tensor, const SaveEvent& event);

/// Of the input of a checkpoint.
SavePolicy save_policy_of_checkpoint();

/// Whether it is of a floating-point type, and none of those.
bool may_take_bits(const at::Tensor& tensor, const SaveEvent& event);

/// Whether it is [N, C, ...], a map of each channel, as a convolution or a batch norm takes it.
bool has_channels(const SaveEvent& event);

/// The norm that saves its input, whose arguments are held: of a batch, in training, of a layer or
/// of groups. None where it is another operation.
std::optional<codecs::Norm> norm_of(const SaveEvent& event);

/// What a norm that has ended keeps of its input. None where it is another operation, or keeps
/// nothing.
std::optional<codecs::Statistics> statistics_of(const RecordedCall& norm);

/// What codes the integers that a pooling operation keeps, whose arguments are held.
codecs::CodecPointer codec_of_places(const SaveEvent& event);

/// Whether the rules look at the arguments of such calls.
bool needs_arguments(std::string_view operation);

/// Whether it is what fewbit::attention keeps of the mask that is its fourth argument.
bool is_mask_of_attention(const SaveEvent& event);

}  // namespace fewbit::session
