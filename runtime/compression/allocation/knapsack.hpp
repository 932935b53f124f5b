#pragma once

#include <cstddef>
#include <vector>

namespace fewbit::session {

/// One of several ways for a item: what it costs, and what is lost with it.
struct Choice {
  double cost;
  double loss;
};

using Choices = std::vector<Choice>;  ///< of one item, by rising cost

struct Selection {
  std::vector<size_t> chosen;  ///< of every item's choices
  double loss = 0.0;           ///< their sum
  double bound = 0.0;          ///< no selection within the capacity has a smaller sum
  double price = 0.0;          ///< what one more unit of cost saves; 0: nothing
};

/// One choice of every item, so that the loss is least while no more than the capacity is spent,
/// or as much as the cheapest of each take.
///
/// A multiple-choice knapsack problem. Steps along the convex hulls of the losses, best first,
/// solve it but for the step that no longer fits; the price of a unit there gives the bound (Sinha
/// and Zoltners, The multiple-choice knapsack problem, 1979). What that price leaves open, few
/// items as a rule, is searched whole (after Pisinger, A minimal algorithm for the multiple-choice
/// knapsack problem, 1995), by no more than so many partial selections at a time that it takes
/// milliseconds: the selection is the best one wherever these suffice.
Selection select(std::vector<Choices> items, double capacity);

}  // namespace fewbit::session
