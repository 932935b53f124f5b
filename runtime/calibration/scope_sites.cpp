#include "calibration/scope_sites.hpp"

#include <filesystem>
#include <sstream>

#include <c10/util/Exception.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace fewbit::session {

namespace {

constexpr const char* kAdvice =
    ": sites are told apart by their order, which has to be that of the first forward; take a "
    "calibrator for each kind of forward";

std::string path_of(const std::string& folder, const std::string& file) {
  return (std::filesystem::path(folder) / file).string();
}

std::string described(int bits, const std::string& function,
                      const std::vector<double>& parameters) {
  std::string text = std::to_string(bits) + ' ' + function;
  for (const double parameter : parameters) text += ' ' + shortest(parameter);
  return text;
}

std::string described(const ScopeSite& site) {
  return described(site.bits, site.function, site.parameters);
}

ScopeSite site_of(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  ScopeSite site;
  words >> word >> site.function;
  site.bits = static_cast<int>(parse_number(word, "bits"));
  while (words >> word) site.parameters.push_back(parse_number(word, "parameter"));
  return site;
}

}  // namespace

std::string ScopeSites::name(size_t n, const ScopeSite& site) {
  return std::to_string(n) + '.' + site.function;
}

void ScopeSites::check_forwards() const {
  TORCH_CHECK(short_forward_ == 0, "fewbit::Calibrator: a forward had ", short_forward_,
              " activations, the first one ", sites_.size(), kAdvice);
}

void ScopeSites::begin_forward() const {
  const std::lock_guard lock(mutex_);
  check_forwards();
}

Table ScopeSites::visit(size_t n, const at::Tensor& x, const Table& chosen) {
  const std::lock_guard lock(mutex_);
  TORCH_CHECK(n < sites_.size() || !complete_, "fewbit::Calibrator: a forward has more than ",
              sites_.size(), " activations, as many as the first", kAdvice);
  if (n == sites_.size()) {
    sites_.push_back({chosen.bits(), chosen.function(), chosen.parameters(), chosen, std::nullopt,
                      std::make_shared<SiteStatistics>()});
  }
  ScopeSite& site = sites_[n];
  TORCH_CHECK(chosen.bits() == site.bits && chosen.is_for(site.function, site.parameters),
              "fewbit::Calibrator: activation ", n, " of a forward is \"",
              described(chosen.bits(), chosen.function(), chosen.parameters()), "\", was \"",
              described(site), "\" (bits, function, parameters)", kAdvice);
  if (watching_) site.statistics->observe(x.detach());
  return site.own ? *site.own : chosen;
}

void ScopeSites::end_forward(size_t visited) noexcept {
  const std::lock_guard lock(mutex_);
  if (visited == 0) return;
  complete_ = true;
  if (visited < sites_.size()) short_forward_ = visited;
}

std::vector<ScopeSite> ScopeSites::stop() {
  const std::lock_guard lock(mutex_);
  TORCH_CHECK(!sites_.empty(),
              "fewbit::Calibrator::fit: no scope of this calibrator replaced an activation");
  check_forwards();
  TORCH_CHECK(sites_[0].statistics != nullptr,
              "fewbit::Calibrator::fit: the tables were loaded, nothing was watched");
  watching_ = false;
  return sites_;
}

void ScopeSites::set_table(size_t n, const Table& table) {
  const std::lock_guard lock(mutex_);
  sites_[n].own = table;
}

void ScopeSites::save(const std::string& folder) const {
  const std::lock_guard lock(mutex_);
  std::string list;
  for (size_t n = 0; n < sites_.size(); ++n) {
    const ScopeSite& site = sites_[n];
    list += described(site) + '\n';
    if (site.own) site.own->save(path_of(folder, name(n, site) + ".json"));
  }
  try {
    write_text_file(path_of(folder, "sites.txt"), list);
  } catch (const Error& error) {
    TORCH_CHECK(false, "fewbit::Calibrator::save: ", error.what());
  }
}

void ScopeSites::load(const std::string& folder) {
  std::vector<ScopeSite> sites;
  try {
    std::istringstream list(read_text_file(path_of(folder, "sites.txt")));
    for (std::string line; std::getline(list, line);) sites.push_back(site_of(line));
  } catch (const Error& error) {
    TORCH_CHECK(false, "fewbit::Calibrator::load: ", error.what());
  }
  TORCH_CHECK(!sites.empty(), "fewbit::Calibrator::load: no sites in ", folder, "/sites.txt");
  for (size_t n = 0; n < sites.size(); ++n) {
    ScopeSite& site = sites[n];
    const std::string path = path_of(folder, name(n, site) + ".json");
    if (!std::filesystem::exists(path)) continue;  // was not fitted: the scope's own
    site.own = Table::load(path);
    TORCH_CHECK(site.own->is_for(site.function, site.parameters),
                "fewbit::Calibrator::load: ", path, ": the table is not for \"", described(site),
                "\"");
  }
  const std::lock_guard lock(mutex_);
  sites_ = std::move(sites);
  complete_ = true;
  watching_ = false;
  short_forward_ = 0;
}

}  // namespace fewbit::session
