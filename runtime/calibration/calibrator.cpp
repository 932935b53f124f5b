#include "fewbit/calibrator.hpp"

#include <cmath>
#include <exception>
#include <filesystem>

#include "base/error.hpp"
#include "calibration/scope_sites.hpp"
#include "calibration/site_statistics.hpp"
#include "fewbit/activation_scope.hpp"
#include "fewbit/nn/activation_module.hpp"
#include "scopes/activation_policy.hpp"
#include "search/search_table.hpp"
#include "tables/solved.hpp"
#include "text/table.hpp"

namespace fewbit {

namespace {

namespace fs = std::filesystem;

/// The table as the solver sees it, under a weight of one's own.
solver::Table as_solved(const Table& table, const solver::WeightSpec& weight) {
  const TableData& data = table.data();
  solver::Table solved;
  solved.problem.function = function_spec(data.function, data.parameters);
  solved.problem.form = table.is_unbiased() ? solver::Form::unbiased : solver::Form::levels;
  solved.problem.levels = static_cast<int>(data.levels.size());
  solved.problem.weight = weight;
  solved.problem.domain = {-INFINITY, INFINITY};
  solved.symmetry = data.even ? solver::Symmetry::even : solver::Symmetry::none;
  solved.thresholds.assign(data.thresholds.begin(), data.thresholds.end());
  solved.codes.assign(data.interval_codes.begin(), data.interval_codes.end());
  solved.levels.assign(data.levels.begin(), data.levels.end());
  return solved;
}

solver::Problem problem_of(const Table& table, const solver::WeightSpec& weight) {
  solver::Problem problem = as_solved(table, weight).problem;
  constexpr int kMostSmoothedBits = 4;
  problem.levels = 1 << table.bits();
  problem.objective.smoothed = !table.is_unbiased() && table.bits() <= kMostSmoothedBits;
  return problem;
}

struct Moments {
  double mean = 0.0;
  double spread = 0.0;
  double within = 0.0;
};

Moments moments_of(const solver::WeightSpec& weight) {
  Moments moments;
  double square = 0.0;
  double within = 0.0;
  for (const solver::UnitSpec& unit : weight.units) {
    moments.mean += unit.mass * unit.mean;
    square += unit.mass * (unit.spread * unit.spread + unit.mean * unit.mean);
    within += unit.mass * unit.spread * unit.spread;
  }
  moments.spread = std::sqrt(std::max(square - moments.mean * moments.mean, 0.0));
  moments.within = std::sqrt(within);
  return moments;
}

template <class Visit>
void for_each_few_bit(torch::nn::Module& model, const Visit& visit) {
  for (const auto& item : model.named_modules()) {
    if (const auto module = std::dynamic_pointer_cast<nn::ActivationModule>(item.value())) {
      visit(item.key().empty() ? std::string("activation") : item.key(), module);
    }
  }
}

/// The same with fewer bins, in which the search takes milliseconds, and hardly any mass in all of
/// them: a table fitted to a few values would say anything between them. Errors are told of the
/// finer ones.
solver::WeightSpec coarse(const solver::WeightSpec& weight) {
  constexpr size_t kJoined = 8;
  constexpr double kUnseen = 1e-9;
  solver::WeightSpec result = weight;
  result.edges = {weight.edges.front()};
  result.masses.clear();
  for (size_t i = 0; i < weight.masses.size(); i += kJoined) {
    const size_t end = std::min(i + kJoined, weight.masses.size());
    double mass =
        kUnseen * static_cast<double>(kJoined) / static_cast<double>(weight.masses.size());
    for (size_t bin = i; bin < end; ++bin) mass += weight.masses[bin];
    result.edges.push_back(weight.edges[end]);
    result.masses.push_back(mass);
  }
  return result;
}

/// Nothing is printed of how near the optimum a table is.
constexpr solver::SearchOptions kQuickly{.quick = true};

/// f' is all but one value where the inputs were: a table of such would say so everywhere.
bool is_all_but_constant(const solver::Table& solved, const Table& before) {
  constexpr double kLeastShare = 1e-3;
  const std::vector<float>& levels = before.data().levels;
  return solved.levels.back() - solved.levels.front() <
         kLeastShare * (levels.back() - levels.front());
}

}  // namespace

Calibrator::Calibrator(torch::nn::Module& model) {
  for_each_few_bit(model, [this](const std::string& name, const auto& module) {
    TORCH_CHECK(!module->observer(), "fewbit::Calibrator: ", name,
                " is watched already; a calibrator watches until its fit() or its end");
    sites_.emplace(name, Site{module, std::make_shared<session::SiteStatistics>()});
  });
  TORCH_CHECK(!sites_.empty(), "fewbit::Calibrator: the model has no module of fewbit::nn");
  for (auto& [name, site] : sites_) site.module.lock()->set_observer(site.statistics);
}

Calibrator::Calibrator() : scope_sites_(std::make_shared<session::ScopeSites>()) {}

Calibrator::~Calibrator() {
  for (const auto& [name, site] : sites_) stop(site);
}

std::shared_ptr<nn::ActivationModule> Calibrator::stop(const Site& site) {
  site.statistics->stop();
  std::shared_ptr<nn::ActivationModule> module = site.module.lock();
  if (module && module->observer() == site.statistics) module->set_observer(nullptr);
  return module;
}

std::optional<Table> Calibrator::fit_site(const std::string& name, const Table& before,
                                          const session::SiteStatistics& statistics) {
  Fit& fit = fits_.emplace_back(
      Fit{name, before.function(), before.bits(), statistics.elements(), 0, 0, 0, 0, 0, 0, 0, {}});
  if (fit.elements == 0) {
    fit.note = "saw nothing";
    return std::nullopt;
  }
  const SolverArithmetic arithmetic;
  const solver::WeightSpec weight = statistics.weight();
  const Moments moments = moments_of(weight);
  fit.mean = moments.mean;
  fit.spread = moments.spread;
  fit.within = moments.within;
  if (before.data().error == 0.0) {
    fit.note = "exact";
    return std::nullopt;
  }
  try {
    const solver::Table old = as_solved(before, weight);
    fit.error_before = solver::table_error(old);
    fit.bias_before = solver::smoothed_bias(old);
    const solver::Table solved = search_now(problem_of(before, coarse(weight)), kQuickly);
    if (is_all_but_constant(solved, before)) {
      fit.note = "all inputs where the derivative is all but constant";
      return std::nullopt;
    }
    solver::Table seen = solved;
    seen.problem.weight = weight;
    fit.error_after = solver::table_error(seen);
    fit.bias_after = solved.smoothed_bias;  // of the same units
    return table_of(solved);
  } catch (const Error& error) {
    fit.note = error.what();
    return std::nullopt;
  }
}

void Calibrator::fit_modules() {
  for (auto& [name, site] : sites_) {
    const std::shared_ptr<nn::ActivationModule> module = stop(site);
    TORCH_CHECK(module, "fewbit::Calibrator::fit: ", name, " does not live any more");
    const auto table = fit_site(name, module->table(), *site.statistics);
    if (!table) continue;
    module->set_table(*table);
    fitted_.insert_or_assign(name, *table);
  }
}

void Calibrator::fit_scope_sites() {
  const std::vector<session::ScopeSite> sites = scope_sites_->stop();
  for (size_t n = 0; n < sites.size(); ++n) {
    const session::ScopeSite& site = sites[n];
    const auto table = fit_site(session::ScopeSites::name(n, site),
                                site.own ? *site.own : *site.chosen, *site.statistics);
    if (table) scope_sites_->set_table(n, *table);
  }
}

const std::vector<Calibrator::Fit>& Calibrator::fit() {
  fits_.clear();
  if (scope_sites_) {
    fit_scope_sites();
  } else {
    fit_modules();
  }
  return fits_;
}

std::string Calibrator::report() const {
  using session::rounded;
  using session::TextTable;
  constexpr auto kRight = TextTable::Side::right;
  TextTable table({{"site"},
                   {"function"},
                   {"bits", kRight},
                   {"elements", kRight},
                   {"mean", kRight},
                   {"spread", kRight},
                   {"within", kRight},
                   {"squared error", kRight},
                   {"smoothed bias", kRight}});
  for (const Fit& fit : fits_) {
    std::vector<std::string> cells = {fit.site,
                                      fit.function,
                                      std::to_string(fit.bits),
                                      session::grouped(fit.elements),
                                      rounded(fit.mean),
                                      rounded(fit.spread),
                                      rounded(fit.within)};
    if (fit.note.empty()) {
      cells.push_back(rounded(fit.error_before) + " -> " + rounded(fit.error_after));
      cells.push_back(rounded(fit.bias_before) + " -> " + rounded(fit.bias_after));
    }
    table.add(std::move(cells), fit.note);
  }
  return table.text();
}

void Calibrator::save(const std::string& folder) const {
  if (scope_sites_) return scope_sites_->save(folder);
  for (const auto& [name, table] : fitted_)
    table.save((fs::path(folder) / (name + ".json")).string());
}

void Calibrator::load(torch::nn::Module& model, const std::string& folder) {
  std::map<std::string, std::shared_ptr<nn::ActivationModule>> modules;
  for_each_few_bit(
      model, [&](const std::string& name, const auto& module) { modules.emplace(name, module); });
  std::error_code status;
  const fs::directory_iterator files(folder, status);
  TORCH_CHECK(!status, "fewbit::Calibrator::load: ", folder, ": ", status.message());
  for (const fs::directory_entry& file : files) {
    if (file.path().extension() != ".json") continue;
    const auto module = modules.find(file.path().stem().string());
    TORCH_CHECK(module != modules.end(), "fewbit::Calibrator::load: ", file.path().string(),
                ": the model has no few-bit module of that name");
    module->second->set_table(Table::load(file.path().string()));
  }
}

void Calibrator::load(const std::string& folder) {
  TORCH_CHECK(scope_sites_, "fewbit::Calibrator::load: this one watches the modules of a model; ",
              "Calibrator::load(model, folder) sets theirs");
  scope_sites_->load(folder);
}

// What throws here lets the scope end as any other does.
ActivationScope::ActivationScope(ActivationScopeOptions options, Calibrator& calibrator)
    : ActivationScope(options) {
  TORCH_CHECK(calibrator.scope_sites_,
              "fewbit::ActivationScope: the calibrator watches the modules of a model; one for "
              "scopes is made without a model");
  calibrator.scope_sites_->begin_forward();
  policy_->visit(calibrator.scope_sites_);
}

}  // namespace fewbit
