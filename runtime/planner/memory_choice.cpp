#include "planner/memory_choice.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

#include "compression/allocation/knapsack.hpp"

namespace fewbit::session {

namespace {

constexpr size_t kMostCombinations = 512;

/// Of a family of sites.
struct Combination {
  double bytes = 0.0;
  double seconds = 0.0;
  std::vector<std::pair<size_t, size_t>> chosen = {};  ///< site and choice
};

/// By rising bytes and falling seconds.
using Frontier = std::vector<Combination>;

void prune(Frontier& all) {
  std::ranges::stable_sort(all, [](const Combination& a, const Combination& b) {
    return std::tie(a.bytes, a.seconds) < std::tie(b.bytes, b.seconds);
  });
  double least = std::numeric_limits<double>::infinity();
  std::erase_if(all, [&](const Combination& combination) {
    const bool is_worse = combination.seconds >= least;
    least = std::min(least, combination.seconds);
    return is_worse;
  });
  if (all.size() <= kMostCombinations) return;
  Frontier some;
  for (size_t i = 0; i < kMostCombinations; ++i) {
    some.push_back(std::move(all[i * (all.size() - 1) / (kMostCombinations - 1)]));
  }
  all = std::move(some);
}

Frontier joined(const Frontier& family, const Frontier& site) {
  Frontier all;
  for (const Combination& a : family) {
    for (const Combination& b : site) {
      Combination& both = all.emplace_back(a);
      both.bytes += b.bytes;
      both.seconds += b.seconds;
      both.chosen.insert(both.chosen.end(), b.chosen.begin(), b.chosen.end());
    }
  }
  prune(all);
  return all;
}

/// The choices of a site that are allowed.
Frontier choices_of(const std::vector<MemoryPlan::Site>& sites, size_t site,
                    const std::function<bool(Storage)>& is_allowed) {
  Frontier all;
  const auto& choices = sites[site].choices;
  for (size_t i = 0; i < choices.size(); ++i) {
    if (!is_allowed(choices[i].storage)) continue;
    all.push_back({static_cast<double>(choices[i].bytes), choices[i].seconds, {{site, i}}});
  }
  prune(all);
  return all;
}

/// Of a site and those that may be recomputed of it.
Frontier frontier_of(const std::vector<MemoryPlan::Site>& sites, size_t root,
                     const std::vector<size_t>& children) {
  Frontier with =
      choices_of(sites, root, [](Storage storage) { return storage == Storage::coded; });
  Frontier without =
      choices_of(sites, root, [](Storage storage) { return storage != Storage::coded; });
  for (const size_t child : children) {
    with = joined(with, choices_of(sites, child, [](Storage) { return true; }));
    without = joined(without, choices_of(sites, child, [](Storage storage) {
                       return storage != Storage::recomputed;
                     }));
  }
  with.insert(with.end(), without.begin(), without.end());
  prune(with);
  return with;
}

}  // namespace

double choose(std::vector<MemoryPlan::Site>& sites, const std::vector<std::optional<size_t>>& roots,
              int64_t bytes) {
  std::vector<std::vector<size_t>> children(sites.size());
  for (size_t i = 0; i < sites.size(); ++i) {
    if (roots[i]) children[*roots[i]].push_back(i);
  }
  std::vector<Frontier> families;
  std::vector<Choices> choices;
  for (size_t i = 0; i < sites.size(); ++i) {
    if (roots[i]) continue;
    families.push_back(frontier_of(sites, i, children[i]));
    Choices& of = choices.emplace_back();
    for (const Combination& one : families.back()) of.push_back({one.bytes, one.seconds});
  }
  const Selection selection = select(std::move(choices), static_cast<double>(bytes));
  for (size_t i = 0; i < families.size(); ++i) {
    for (const auto& [site, choice] : families[i][selection.chosen[i]].chosen) {
      sites[site].chosen = choice;
    }
  }
  return selection.price;
}

}  // namespace fewbit::session
