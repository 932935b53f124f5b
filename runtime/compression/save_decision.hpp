#pragma once

#include <optional>

#include "compression/coder.hpp"
#include "compression/operators/save_policy.hpp"
#include "compression/site_directions.hpp"
#include "fewbit/compressor.hpp"

namespace fewbit::session {

/// How a saved tensor is stored, and why: by one look at the rules, the plan and its site.
struct SaveDecision : SavePolicy {
  bool has_rule = false;
  std::optional<int> rule_bits = {};           ///< by that rule
  std::optional<int> given_bits = {};          ///< by a plan, or else that rule
  std::optional<Storage> planned = {};         ///< by a plan, whatever rules and errors say
  int bits = 0;                                ///< of an element, where it takes such of the budget
  std::optional<CodecKind> kind = {};          ///< with the lower error there
  bool is_due = false;                         ///< errors are to be measured on it
  bool is_better_recomputed = false;           ///< as far as errors tell
  bool is_observed = false;                    ///< so nothing waits
  bool may_normalize = true;                   ///< by statistics, where there are such
  SiteDirectionsPointer directions = nullptr;  ///< of earlier tensors of the site
  DirectionsChoice directions_choice = {};     ///< of these

  /// Whether errors are to tell whether it would better be recomputed.
  bool compares_recomputed() const { return is_due && takes_bits() && !planned; }
  /// Whether it is recomputed from others' codes, where it can be.
  bool recomputes(bool is_asked_for) const {
    return planned ? *planned == Storage::recomputed : is_asked_for || is_better_recomputed;
  }
};

}  // namespace fewbit::session
