#pragma once

#include <cstdint>

namespace fewbit::session {

/// How a saved tensor is stored.
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
  codes       ///< of an activation already: as they are, unless they leave or are recomputed
};

constexpr bool is_cast(StorageKind storage) {
  return storage == StorageKind::bf16 || storage == StorageKind::e4m3 ||
         storage == StorageKind::e5m2;
}

/// What an operation saves that its gradient multiplies by, element by element.
enum class Factor {
  none,
  product,
  square,
  power,  ///< a higher one, within an activation that is written out: in a loss it stays exact
  probability,
  derivative,  ///< of an activation
  vanishing,   ///< the same of elu and celu, which a constant makes positive
  input,       ///< of a checkpoint, whose operations take it in its stead
};

/// How a saved tensor is stored, and what an error of it does.
struct SavePolicy {
  StorageKind storage = StorageKind::exact;
  /// What a squared error does to the gradient, relative to the tensor's energy, where that of a
  /// tensor that the gradient is linear in does 1.
  double weight = 0.0;
  bool is_norm = false;  ///< the tensor's mean is no part of that energy
  Factor factor = Factor::none;

  bool takes_bits() const {
    return storage == StorageKind::rotated || storage == StorageKind::probabilities;
  }
  /// Whether all elements are stored, in fewer bytes than they take or elsewhere.
  bool keeps_elements() const {
    return takes_bits() || is_cast(storage) || storage == StorageKind::offloaded;
  }
};

/// Backward reads nothing of it but sizes.
constexpr SavePolicy kSizes = {StorageKind::sizes};
constexpr SavePolicy kMask = {StorageKind::mask};

}  // namespace fewbit::session
