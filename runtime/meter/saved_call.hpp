#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/util/ArrayRef.h>

#include "fewbit/bits.hpp"
#include "trace/running_operations.hpp"

namespace fewbit::session {

// Numbers of storages (SavedTensor::storage).
using Storages = std::set<std::int64_t>;

// What could be saved in the place of what a call saves for backward.
struct Replacement {
  Storages frees;  // what the call would save no more
  std::int64_t keeps_bytes = 0;
  std::string text;               // "3 bits save", so many bytes
  std::int64_t element_bits = 0;  // the same for one element of the call's input
  bool exact = false;             // gradients stay what they are
  std::string request;            // how to ask for it; empty: a scope does it unasked
  std::string refusal;            // how to prevent that
};

// A call that could save fewer bytes for backward, or that saves codes already. Holds no tensor.
class SavedCall : public CallNote {
 public:
  std::string text;  // "gelu [32, 16] Float"
  std::int64_t elements = 0;
  std::int64_t input_bytes = 0;
  bool in_place = false;
  std::optional<int> coded_bits;  // of an element, where it saves codes already

  // Codes of so many bits in the place of all that the call saves; nothing where nobody would
  // replace it.
  virtual std::optional<Replacement> replacement(Bits /*bits*/, const Storages& /*kept*/) const {
    return std::nullopt;
  }
};

// The call that starts, as those who could replace it or run it already see it; null where nobody
// does.
std::shared_ptr<const SavedCall> saved_call(std::string_view operation,
                                            c10::ArrayRef<const c10::IValue> arguments);

}  // namespace fewbit::session
