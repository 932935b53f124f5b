#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "calibration/site_statistics.hpp"
#include "fewbit/table.hpp"
#include "scopes/activation_sites.hpp"

namespace fewbit::session {

/// One activation of a model that runs inside scopes.
struct ScopeSite {
  int bits = 0;  ///< of the tables that scopes choose
  std::string function;
  std::vector<double> parameters;

  std::optional<Table> chosen;  ///< by the first scope; none after load()
  std::optional<Table> own;     ///< fitted or loaded, in the place of what a scope chooses
  std::shared_ptr<SiteStatistics> statistics;  ///< null after load()
};

/// The activations that scopes replace: the n-th one of a forward is site n. The first forward says
/// how many there are, of which function and in how many bits; every other one has to have the
/// same. Thread-safe.
class ScopeSites final : public ActivationSites {
 public:
  /// Throws c10::Error where an earlier forward ended before its last site: which sites it had
  /// visited is not known.
  void begin_forward() const;
  /// The table for the n-th activation: the site's own, or else what the scope chose. Looks at x
  /// until stop(). Throws c10::Error where the site is of another kind or there is none.
  Table visit(size_t n, const at::Tensor& x, const Table& chosen) override;
  /// `visited` activations; none is no forward.
  void end_forward(size_t visited) noexcept override;

  /// Watches no longer. All sites; throws c10::Error where there are none.
  std::vector<ScopeSite> stop();
  void set_table(size_t n, const Table& table);

  /// "0.gelu".
  static std::string name(size_t n, const ScopeSite& site);

  /// Writes FOLDER/sites.txt, a line "2 elu 0.5" (bits, function, parameters) for every site, and
  /// FOLDER/<name>.json for every own table.
  void save(const std::string& folder) const;
  /// Takes the place of all sites; throws c10::Error naming the file that does not fit.
  void load(const std::string& folder);

 private:
  void check_forwards() const;

  mutable std::mutex mutex_;
  std::vector<ScopeSite> sites_;
  bool complete_ = false;  ///< a first forward has ended
  bool watching_ = true;
  size_t short_forward_ = 0;  ///< activations of one that ended too early
};

}  // namespace fewbit::session
