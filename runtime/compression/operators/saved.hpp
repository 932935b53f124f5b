#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "codecs/codec.hpp"
#include "compression/operators/operator.hpp"
#include "trace/running_operations.hpp"

// What operations save, and how that is stored unless somebody says otherwise.
namespace fewbit::session {

/// Of what an operation saves. What is not known, custom functions among them, is left alone;
/// parameters are, with their views and casts, and what no gradient runs through, but for what
/// dropout draws.
SavePolicy save_policy_of(const at::Tensor& tensor, const SaveEvent& event);

/// Of the input of a checkpoint.
SavePolicy save_policy_of_checkpoint();

/// What a rule may call an operation: "aten::gelu_", "aten::gelu", "gelu", and libtorch's own name
/// of one that runs in another form.
std::vector<std::string_view> names_of(std::string_view operation);

/// Whether it is an activation of libtorch's.
bool is_activation(std::string_view operation);

/// Why what an operation saves is left alone, for a report.
std::string reason_left(const at::Tensor& tensor, const SaveEvent& event);

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

/// What codes the integers that an operation keeps, a pooling whose arguments are held as a rule.
codecs::CodecPointer codec_of_integers(const SaveEvent& event);

/// Whether arguments of such calls are to be held until they have ended.
bool needs_arguments(std::string_view operation);

/// What fewbit::attention keeps of its mask, where that is what it saves: the mask.
std::optional<at::Tensor> mask_of_attention(const SaveEvent& event);

}  // namespace fewbit::session
