#include "fewbit/memory_plan.hpp"

#include <algorithm>

#include <c10/util/Exception.h>

#include "planner/memory_planner.hpp"
#include "text/table.hpp"

namespace fewbit {

namespace {

using session::TextTable;

std::string name_of(Storage storage) {
  switch (storage) {
    case Storage::exact:
      return "exact";
    case Storage::coded:
      return "coded";
    case Storage::recomputed:
      return "recomputed";
    default:
      return "offloaded";
  }
}

std::string milliseconds(double seconds) {
  return session::rounded(1000.0 * seconds);
}

const MemoryPlan::Choice* choice_of(const MemoryPlan::Site& planned, Storage storage) {
  const auto choice = std::ranges::find(planned.choices, storage, &MemoryPlan::Choice::storage);
  return choice == planned.choices.end() ? nullptr : &*choice;
}

/// Bytes and milliseconds of every way that there is.
std::vector<std::string> row_of(const MemoryPlan::Site& planned) {
  std::vector<std::string> row = {planned.site.name(), name_of(planned.choice().storage)};
  for (const Storage storage :
       {Storage::exact, Storage::coded, Storage::recomputed, Storage::offloaded}) {
    const MemoryPlan::Choice* choice = choice_of(planned, storage);
    const bool takes_none = storage == Storage::recomputed || storage == Storage::offloaded;
    if (!takes_none) row.push_back(choice ? session::grouped(choice->bytes) : "-");
    if (storage != Storage::exact) row.push_back(choice ? milliseconds(choice->seconds) : "-");
  }
  return row;
}

std::string sites_text(const MemoryPlan& plan) {
  constexpr auto kRight = TextTable::Side::right;
  TextTable table({{"site"},
                   {"how"},
                   {"exact bytes", kRight},
                   {"coded bytes", kRight},
                   {"coded ms", kRight},
                   {"recomputed ms", kRight},
                   {"offloaded ms", kRight}});
  for (const MemoryPlan::Site& planned : plan.sites) table.add(row_of(planned));
  return table.text();
}

std::string checkpoints_text(const MemoryPlan& plan) {
  if (plan.checkpoints.empty()) return "";
  constexpr auto kRight = TextTable::Side::right;
  TextTable table(
      {{"fewbit::checkpoint of"}, {"bytes less", kRight}, {"ms more", kRight}, {"worth it"}});
  for (const MemoryPlan::Checkpoint& one : plan.checkpoints) {
    table.add({one.module, session::grouped(one.bytes), milliseconds(one.seconds),
               one.is_proposed ? "yes" : "no"});
  }
  return '\n' + table.text();
}

std::string budget_text(const std::optional<int64_t>& budget, int64_t bytes) {
  if (!budget) return "";
  return ", budget " + session::grouped(*budget) +
         (bytes > *budget ? ", which nothing was found to fit" : "");
}

}  // namespace

int64_t MemoryPlan::bytes() const {
  int64_t bytes = other_bytes;
  for (const Site& site : sites) bytes += site.choice().bytes;
  return bytes;
}

double MemoryPlan::seconds() const {
  double seconds = other_seconds;
  for (const Site& site : sites) seconds += site.choice().seconds;
  return seconds;
}

bool MemoryPlan::fits() const {
  return bytes() <= budget.kept_bytes.value_or(bytes()) &&
         step_peak <= budget.peak_bytes.value_or(step_peak);
}

std::string MemoryPlan::text() const {
  return "kept for backward: " + session::grouped(bytes()) + " bytes, exact " +
         session::grouped(exact_bytes) + budget_text(budget.kept_bytes, bytes()) +
         "\npeak of a step: " + session::grouped(step_peak) + " bytes, exact " +
         session::grouped(exact_peak) + budget_text(budget.peak_bytes, step_peak) +
         "; of its forward " + session::grouped(forward_peak) +
         "\ntime of a step: " + milliseconds(seconds()) + " ms more than " +
         milliseconds(step_seconds) + "\n\n" + sites_text(*this) + checkpoints_text(*this);
}

MemoryPlan plan_memory(const std::function<at::Tensor()>& forward, const MemoryBudget& budget,
                       const CompressorOptions& options,
                       const torch::OrderedDict<std::string, at::Tensor>& parameters) {
  const auto check = [](const char* name, const std::optional<int64_t>& bytes) {
    TORCH_CHECK(bytes.value_or(0) >= 0, "fewbit::plan_memory: ", name, " is ", *bytes,
                ", accepted: 0 or more");
  };
  check("kept_bytes", budget.kept_bytes);
  check("peak_bytes", budget.peak_bytes);
  return session::MemoryPlanner(forward, options).plan(budget, parameters);
}

Compressor& Compressor::follow(const MemoryPlan& plan) {
  std::map<session::SiteKey, session::UserRules::Assignment> sites;
  for (const MemoryPlan::Site& site : plan.sites) {
    sites[session::key_of(site.site)] = {site.choice().storage, site.bits};
  }
  compression_->assign(sites);
  return *this;
}

}  // namespace fewbit
