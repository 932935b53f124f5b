#include "fewbit/calibrator.hpp"

#include <cmath>
#include <filesystem>
#include <iomanip>
#include <sstream>

#include "base/error.hpp"
#include "search/search_table.hpp"
#include "session/scope_sites.hpp"
#include "session/site_statistics.hpp"
#include "tables/solved.hpp"

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
    if (auto* module = dynamic_cast<nn::FewBitModule*>(item.value().get())) {
      visit(item.key().empty() ? std::string("activation") : item.key(), *module);
    }
  }
}

}  // namespace

Calibrator::Calibrator(torch::nn::Module& model) {
  for_each_few_bit(model, [this](const std::string& name, nn::FewBitModule& module) {
    auto statistics = std::make_shared<session::SiteStatistics>();
    module.set_observer(statistics);
    sites_.emplace(name, Site{&module, std::move(statistics)});
  });
  TORCH_CHECK(!sites_.empty(), "fewbit::Calibrator: the model has no module of fewbit::nn");
}

Calibrator::Calibrator() : scope_sites_(std::make_shared<session::ScopeSites>()) {}

Calibrator::~Calibrator() = default;

std::optional<Table> Calibrator::fit_site(const std::string& name, const Table& before,
                                          const session::SiteStatistics& statistics) {
  Fit& fit = fits_.emplace_back(
      Fit{name, before.function(), before.bits(), statistics.elements(), 0, 0, 0, 0, 0, 0, 0, {}});
  if (fit.elements == 0) {
    fit.note = "saw nothing";
    return std::nullopt;
  }
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
    const solver::Table solved = search_now(problem_of(before, weight));
    fit.error_after = solved.error;
    fit.bias_after = solved.smoothed_bias;
    return table_of(solved);
  } catch (const Error& error) {
    fit.note = error.what();
    return std::nullopt;
  }
}

void Calibrator::fit_modules() {
  for (auto& [name, site] : sites_) {
    site.module->set_observer(nullptr);
    const auto table = fit_site(name, site.module->table(), *site.statistics);
    if (!table) continue;
    site.module->set_table(*table);
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
  std::ostringstream text;
  text << std::left << std::setw(24) << "site" << std::setw(12) << "function" << std::right
       << std::setw(5) << "bits" << std::setw(12) << "elements" << std::setw(8) << "mean"
       << std::setw(8) << "spread" << std::setw(8) << "within" << std::setw(22) << "squared error"
       << std::setw(22) << "smoothed bias" << '\n';
  for (const Fit& fit : fits_) {
    text << std::left << std::setw(24) << fit.site << std::setw(12) << fit.function << std::right
         << std::setw(5) << fit.bits << std::setw(12) << fit.elements << std::setprecision(3)
         << std::setw(8) << fit.mean << std::setw(8) << fit.spread << std::setw(8) << fit.within;
    const auto change = [&](double before, double after) {
      std::ostringstream pair;
      pair << std::setprecision(3) << before << " -> " << after;
      text << std::setw(22) << pair.str();
    };
    if (fit.note.empty()) {
      change(fit.error_before, fit.error_after);
      change(fit.bias_before, fit.bias_after);
    } else {
      text << "  " << fit.note;
    }
    text << '\n';
  }
  return text.str();
}

void Calibrator::save(const std::string& folder) const {
  if (scope_sites_) return scope_sites_->save(folder);
  for (const auto& [name, table] : fitted_)
    table.save((fs::path(folder) / (name + ".json")).string());
}

void Calibrator::load(torch::nn::Module& model, const std::string& folder) {
  std::map<std::string, nn::FewBitModule*> modules;
  for_each_few_bit(model, [&](const std::string& name, nn::FewBitModule& module) {
    modules.emplace(name, &module);
  });
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

}  // namespace fewbit
