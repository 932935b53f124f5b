#pragma once

#include <cstdint>
#include <string_view>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "trace/running_operations.hpp"

// What operations are to an error of what they take.
namespace fewbit::session {

/// What an operation does to an error of its input, where that input's own gradient was taken
/// element by element of something that is coded.
enum class Consumer {
  passes,   ///< what comes of it decides
  sums,     ///< over many elements: their gradients do not grow as one of them falls to 0
  divides,  ///< by it: logarithms, roots, quotients. Theirs do, so that no error is small.
};

/// What an operation keeps that its gradient takes element by element.
enum class Factor {
  none,
  product,
  square,
  probability,
  derivative,  ///< of an activation
  vanishing,   ///< the same of elu and celu, which a constant makes positive
  input,       ///< of a checkpoint, whose operations take it in its stead
};

/// Of the operation that takes what lies in the memory, which has such a factor. Before the call
/// has results it passes where these are to tell.
Consumer consumer_of(const RecordedCall& call, const void* memory, Factor factor);

/// Whether gradients that run through the operation that made the tensor are divided by what it
/// took, element by element, or multiplied by what it gave.
bool scales_gradient(const at::Tensor& tensor);

/// Whether it is e, or 2, to the power of something, as precisions are.
bool is_exponential(const at::Tensor& tensor);

/// Whether the operation's own gradient divides by what it saves.
bool is_division(std::string_view operation);

/// Whether the operation saves what its gradient takes element by element, by rule.
bool is_elementwise(std::string_view operation);

/// "log" of "aten::log_".
std::string_view plain_name(std::string_view operation);

/// Whether it is one of these, by its plain name: a layer, a norm of channels, a sum over rows or
/// few elements, or one whose result is no longer a number that errs, but what a program decides by
/// (integers aside).
bool is_layer(std::string_view operation);
bool is_norm_of_channels(std::string_view operation);
bool is_reduction(std::string_view operation);
bool is_choice(const RecordedCall& call);

/// Whether it multiplies or divides by more than a number, as by a precision, a mask, weights of a
/// batch or units of columns: the more, the smaller the difference that was squared.
bool weighs(const RecordedCall& call);

/// Whether the value is a tensor, or holds one, of that memory.
bool lies_in(const c10::IValue& value, const void* memory);
/// Elements of a tensor, 1 of others.
int64_t count_of(const c10::IValue& value);

}  // namespace fewbit::session
