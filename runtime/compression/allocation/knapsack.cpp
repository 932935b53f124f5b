#include "compression/allocation/knapsack.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

namespace fewbit::session {

namespace {

/// Partial selections that the search goes on with.
constexpr size_t kMostPartial = 4096;

/// A step from one option of a item to a later one.
struct Step {
  size_t item;
  size_t to;
  double cost;
  double gain;
  double rate() const { return gain / cost; }
};

/// Those along the lower convex hull: each gains less for its cost than the one before it.
std::vector<Step> hull_of(size_t item, const Choices& options) {
  std::vector<Step> steps;
  std::vector<size_t> from = {0};
  for (size_t to = 1; to < options.size(); ++to) {
    const auto step_from = [&](size_t start) {
      return Step{item, to, options[to].cost - options[start].cost,
                  options[start].loss - options[to].loss};
    };
    if (options[to].cost <= 0.0 || step_from(from.back()).gain <= 0.0) continue;
    while (!steps.empty() && step_from(from.back()).rate() >= steps.back().rate()) {
      steps.pop_back();
      from.pop_back();
    }
    steps.push_back(step_from(from.back()));
    from.push_back(to);
  }
  return steps;
}

class Search {
 public:
  Search(std::vector<Choices> items, double capacity)
      : items_(std::move(items)), capacity_(capacity), chosen_(items_.size(), 0) {}

  /// Steps best first; those of a item that no longer fit end it, others may go on.
  void climb();
  /// All splits that may be better yet.
  void improve();

  double loss() const {
    double sum = 0.0;
    for (size_t i = 0; i < items_.size(); ++i) sum += items_[i][chosen_[i]].loss;
    return sum;
  }
  double bound() const { return bound_; }
  double price() const { return price_; }
  const std::vector<size_t>& chosen() const { return chosen_; }

 private:
  /// Choices of the items so far.
  struct Partial {
    double cost;
    double loss;
    double excess;  ///< over the bound, whatever the other items have
    size_t before;  ///< among those of one item less
    size_t option;
  };
  using Partials = std::vector<Partial>;

  /// A item that is not settled: how much of the bound's slack each of its options takes.
  struct Open {
    size_t item;
    std::vector<double> excess;
    double second;  ///< the least but for the one that takes none
  };

  std::vector<double> excess_of(size_t item) const;
  std::vector<Open> open_items(double slack, Partial& settled);
  Partials extended(const Partials& partials, const Open& open, double slack) const;

  std::vector<Choices> items_;
  double capacity_;
  std::vector<size_t> chosen_;  ///< of each item's options
  double price_ = 0.0;          ///< of a bit, where the budget ends
  double bound_ = 0.0;
};

void Search::climb() {
  std::vector<Step> steps;
  for (size_t i = 0; i < items_.size(); ++i) {
    const std::vector<Step> hull = hull_of(i, items_[i]);
    steps.insert(steps.end(), hull.begin(), hull.end());
  }
  std::ranges::stable_sort(steps, std::greater<>(), &Step::rate);
  std::vector<bool> is_done(items_.size(), false);
  double left = capacity_;
  for (const Step& step : steps) {
    if (is_done[step.item]) continue;
    if (step.cost > left) {
      is_done[step.item] = true;
      if (price_ > 0.0) continue;
      price_ = step.rate();
      bound_ = loss() - price_ * left;
      continue;
    }
    left -= step.cost;
    chosen_[step.item] = step.to;
  }
  if (price_ == 0.0) bound_ = loss();
}

std::vector<double> Search::excess_of(size_t item) const {
  std::vector<double> excess;
  for (const Choice& option : items_[item]) excess.push_back(option.loss + price_ * option.cost);
  const double least = *std::ranges::min_element(excess);
  for (double& value : excess) value -= least;
  return excess;
}

/// Those where more than one option takes less than the slack; the others go into `settled`, and
/// have been chosen so.
std::vector<Search::Open> Search::open_items(double slack, Partial& settled) {
  std::vector<Open> open;
  for (size_t i = 0; i < items_.size(); ++i) {
    Open candidate{i, excess_of(i), std::numeric_limits<double>::infinity()};
    const auto best = std::ranges::min_element(candidate.excess) - candidate.excess.begin();
    for (size_t option = 0; option < candidate.excess.size(); ++option) {
      if (option == static_cast<size_t>(best)) continue;
      candidate.second = std::min(candidate.second, candidate.excess[option]);
    }
    if (candidate.second < slack) {
      open.push_back(std::move(candidate));
    } else {
      chosen_[i] = static_cast<size_t>(best);
      settled.cost += items_[i][chosen_[i]].cost;
      settled.loss += items_[i][chosen_[i]].loss;
    }
  }
  std::ranges::stable_sort(open, std::greater<>(), &Open::second);
  return open;
}

/// By one item more, without those that another one is no dearer than and loses no more.
Search::Partials Search::extended(const Partials& partials, const Open& open, double slack) const {
  Partials all;
  for (size_t before = 0; before < partials.size(); ++before) {
    for (size_t option = 0; option < open.excess.size(); ++option) {
      const Choice& taken = items_[open.item][option];
      const Partial next{partials[before].cost + taken.cost, partials[before].loss + taken.loss,
                         partials[before].excess + open.excess[option], before, option};
      if (next.cost <= capacity_ && next.excess < slack) all.push_back(next);
    }
  }
  std::ranges::stable_sort(all, [](const Partial& a, const Partial& b) {
    return std::tie(a.cost, a.loss) < std::tie(b.cost, b.loss);
  });
  double least = std::numeric_limits<double>::infinity();
  std::erase_if(all, [&](const Partial& partial) {
    const bool is_dominated = partial.loss >= least;
    least = std::min(least, partial.loss);
    return is_dominated;
  });
  if (all.size() > kMostPartial) {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(kMostPartial);
    std::ranges::nth_element(all, middle, {}, &Partial::excess);
    all.erase(middle, all.end());
  }
  return all;
}

void Search::improve() {
  const double best = loss();
  const double slack = best - bound_;
  if (slack <= 1e-12 * best) return;
  const std::vector<size_t> climbed = chosen_;
  Partial settled{0.0, 0.0, 0.0, 0, 0};
  const std::vector<Open> open = open_items(slack, settled);
  std::vector<Partials> stages = {{settled}};
  for (const Open& item : open) stages.push_back(extended(stages.back(), item, slack));
  const auto found = std::ranges::min_element(stages.back(), {}, &Partial::loss);
  if (found == stages.back().end() || found->loss >= best) {
    chosen_ = climbed;
    return;
  }
  Partial at = *found;
  for (size_t stage = open.size(); stage > 0; --stage) {
    chosen_[open[stage - 1].item] = at.option;
    at = stages[stage - 1][at.before];
  }
}

}  // namespace

Selection select(std::vector<Choices> items, double capacity) {
  for (Choices& choices : items) {
    const double least = choices.front().cost;
    capacity -= least;
    for (Choice& choice : choices) choice.cost -= least;
  }
  Search search(std::move(items), std::max(capacity, 0.0));
  search.climb();
  search.improve();
  return {search.chosen(), search.loss(), search.bound(), search.price()};
}

}  // namespace fewbit::session
