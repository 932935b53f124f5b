#pragma once

#include <cstdint>

#include <ATen/core/ivalue.h>

#include "compression/operators/operator.hpp"
#include "trace/running_operations.hpp"

// What calls are to an error of what they take.
namespace fewbit::session {

/// What a call does to it. Ordered: the last counts of several.
enum class Consumer {
  passes,   ///< what is computed from it decides
  sums,     ///< over many elements: their gradients do not grow as one of them falls to 0
  divides,  ///< by it: logarithms, roots, quotients. Theirs do, so that no error is small.
};

/// Of the call that takes what lies in the memory, which has such a factor. Before the call has
/// results it passes where these are to tell.
Consumer consumer_of(const RecordedCall& call, const void* memory, Factor factor);

/// Whether the operation's own gradient divides by what it saves.
bool is_division(std::string_view operation);

/// Whether it is a layer or loss over many elements.
bool is_layer(std::string_view operation);
bool is_norm_of_channels(std::string_view operation);
/// Whether it is a sum over rows or few elements.
bool is_reduction(std::string_view operation);
/// Whether it multiplies by one number, or shows the same in another shape.
bool is_scaling(std::string_view operation);
/// Whether its result is no longer a number with an error, but what a program decides by (integers
/// aside).
bool is_choice(const RecordedCall& call);

/// Whether it multiplies or divides by more than a number, as by a precision, a mask, weights of a
/// batch or units of columns: the more, the smaller the difference that was squared.
bool weighs(const RecordedCall& call);

/// Whether the value is a tensor, or holds one, of that memory.
bool lies_in(const c10::IValue& value, const void* memory);
/// Elements of a tensor, 1 of others.
int64_t count_of(const c10::IValue& value);

}  // namespace fewbit::session
