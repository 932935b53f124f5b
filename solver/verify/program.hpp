#pragma once

#include "verify/bound.hpp"
#include "verify/sweep.hpp"

namespace fewbit::solver {

/// A stretch between two neighbouring points.
struct Cell {
  double swing;
  double mass;
  Index before;  ///< the cut before lies here or to the right, by costs alone,
  Index after;   ///< and the cut after here or to the left
};

/// The state of lower_bound_of(); bound.cpp tells what it does.
class Program {
 public:
  Program(const Line& line, const BoundRequest& request);

  double run();

 private:
  struct Layer {
    std::vector<Index> cells;         ///< surviving cells by their left point, ascending
    std::vector<double> corrections;  ///< of these
    std::vector<Index> points;        ///< their ends, ascending
    std::vector<double>
        before;                 ///< least discounted total up to the point, itself without discount
    std::vector<double> after;  ///< the same for the rest
    std::vector<double> discount;
    std::vector<Index> parent;
    double largest = 0.0;  ///< discount
  };

  void lay_first_cells();
  void set_discounts();
  void add_inner_points(const LinePoint& a, const LinePoint& b, double goal, int depth,
                        std::vector<LinePoint>& points) const;
  void measure_cells();
  void forward();
  void backward();
  Sweep sweep(const Layer& from, const Layer& to, bool backward, double limit);
  void take_path_as_attained();
  bool drop_cells();
  bool split_cells();
  double correction(Index cell, Index before, Index after) const;
  double level_gap(const LinePoint& before, Index cell, const LinePoint& after) const;
  void set_points(Layer& layer) const;

  const Line& line_;
  const BoundRequest& request_;
  PartCosts cost_;
  double best_;  ///< smallest total of a cut seen
  size_t cuts_;
  std::vector<LinePoint> points_;
  std::vector<Cell> cells_;    ///< by left point; only survivors' entries are kept up to date
  std::vector<Index> alive_;   ///< cells that some layer holds
  std::vector<Layer> layers_;  ///< 0: the first point; 1 to cuts_; the last point
  double ends_total_ = 0.0;
  double work_ = 0.0;
};

}  // namespace fewbit::solver
