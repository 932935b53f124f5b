#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "compression/allocation/budget.hpp"
#include "compression/site_table.hpp"
#include "compression/user_rules.hpp"

namespace fewbit::session {

/// How many bits each site has, and which are recomputed from others' codes, by the errors that
/// were measured. Looks at what others hold; not thread-safe.
class BitAllocation {
 public:
  BitAllocation(SiteTable& sites, const UserRules& rules, const Coder& coder)
      : sites_(sites), rules_(rules), coder_(coder) {}

  /// After a forward: if anything has changed that bits are split by.
  void split();
  /// How far the weighed errors of the bits as they are split are at most above the least there can
  /// be, relative to these. None where nothing is.
  std::optional<double> gap() const;
  /// The squared error of the latest tensor there, over its energy; 0 where it is not known.
  double error_of(const SiteState& state) const;
  /// The same, of groups the median.
  double median_error_of(const SiteState& state) const;

  /// Whether its bits are chosen by the average of others: of an activation.
  static bool follows_bits(const SiteState& state);

 private:
  /// The site from whose codes a recomputed one is computed in the end, and its error over that
  /// one's.
  struct Origin {
    const SiteState* root;
    double ratio;
    double floor;    ///< what no fewer bits at the root fall below than
    int floor_bits;  ///< so many
  };
  /// Bits of an element, as activations are to go with and as there are for others.
  struct Averages {
    double of_activations;
    double of_others;
  };

  std::optional<Origin> origin_of(const SiteState& state) const;
  double recomputed_error(const Origin& origin, double bits) const;
  bool is_better_recomputed(const SiteState& state) const;
  void choose_recomputed();
  static bool takes_budget(const SiteState& state);
  double weight_of(const SiteState& state, double typical) const;
  double typical_sensitivity() const;
  std::vector<Demand> demands() const;
  void raise_losses(std::vector<Demand>& demands) const;
  static double bits_of(const SiteState& state, const DirectionsChoice& choice);
  std::vector<DirectionsOption> options_of(const SiteState& state) const;
  std::vector<double> errors_of(const SiteState& state) const;
  double constant_bits(const SiteState& state) const;
  int64_t elements_of(const SiteState& state) const;
  void note_other_bits(SiteState& state);
  double average_bits(const std::vector<Demand>& demands, double activation_bytes) const;
  int bits_beside(const SiteState& state, double average) const;
  double activation_bytes(double average) const;
  Averages averages(const std::vector<Demand>& demands) const;

  SiteTable& sites_;
  const UserRules& rules_;
  const Coder& coder_;
};

}  // namespace fewbit::session
