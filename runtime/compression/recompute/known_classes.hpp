#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "codecs/codec.hpp"
#include "compression/operators/recipe.hpp"
#include "trace/contents.hpp"
#include "trace/running_operations.hpp"

namespace fewbit::session {

/// Of what class the elements of tensors are, as codes tell that autograd saves in any case: those
/// of a few-bit activation of its output, which a layer behind it saves, behind a dropout the mask,
/// too, and behind a pooling the places of what is greatest. Followed from operation to operation
/// through one forward.
class KnownClasses {
 public:
  /// Of what a few-bit activation gives, and of what it takes but for the class of zeros: as its
  /// codes tell.
  static std::optional<codecs::Classes> of_activation(const std::vector<c10::IValue>& arguments,
                                                      const Again& codes);

  /// Whether it asks for such calls in addition to those that may be recomputed.
  static bool follows(std::string_view operation) { return operation == "aten::copy_"; }

  void end_call(const RecordedCall& call, const Beside& beside);

  /// Nothing where no codes tell of all that the tensor shows, element by element.
  std::optional<codecs::Classes> find(const at::Tensor& tensor) const {
    return known_.empty() ? std::nullopt : known(tensor);
  }

 private:
  struct Known {
    Contents contents;
    codecs::Classes classes;
  };

  std::optional<codecs::Classes> known(const at::Tensor& tensor) const;
  std::optional<codecs::Classes> classes_of(const RecordedCall& call, const Beside& beside) const;

  std::map<const void*, Known> known_;  ///< by memory
};

}  // namespace fewbit::session
