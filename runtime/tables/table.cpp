#include "fewbit/table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include <c10/util/Exception.h>

#include "tables/step_functions.hpp"

namespace fewbit {

namespace {

void check_levels(const TableData& data) {
  const size_t count = data.levels.size();
  TORCH_CHECK(count >= 2 && count <= 256, "fewbit::Table ", data.name, ": ", count,
              " levels, accepted: 2 to 256");
  for (size_t i = 0; i < count; ++i) {
    TORCH_CHECK(std::isfinite(data.levels[i]), "fewbit::Table ", data.name, ": level ", i,
                " is not finite");
    TORCH_CHECK(i == 0 || data.levels[i - 1] <= data.levels[i], "fewbit::Table ", data.name,
                ": level ", i, " is below the one before");
  }
}

void check_intervals(const TableData& data) {
  if (data.interval_codes.empty() && data.thresholds.empty()) return;
  TORCH_CHECK(data.interval_codes.size() == data.thresholds.size() + 1, "fewbit::Table ", data.name,
              ": ", data.interval_codes.size(), " interval codes, but ", data.thresholds.size(),
              " thresholds cut ", data.thresholds.size() + 1, " intervals");
  for (const uint8_t code : data.interval_codes) {
    TORCH_CHECK(code < data.levels.size(), "fewbit::Table ", data.name, ": code ", int{code},
                " names none of ", data.levels.size(), " levels");
  }
  const bool ascending = std::is_sorted(data.thresholds.begin(), data.thresholds.end());
  TORCH_CHECK(ascending && std::none_of(data.thresholds.begin(), data.thresholds.end(),
                                        [](float t) { return std::isnan(t); }),
              "fewbit::Table ", data.name, ": thresholds do not ascend");
}

std::vector<float> floats_of(const std::vector<double>& values) {
  std::vector<float> floats;
  for (const double value : values) floats.push_back(static_cast<float>(value));
  return floats;
}

Table::Steps arrays_of(const StepFunction& steps) {
  std::vector<int64_t> codes(steps.codes.begin(), steps.codes.end());
  if (steps.nan_code != steps.codes[0]) codes.push_back(steps.nan_code);
  return {steps.thresholds, std::move(codes), steps.levels, steps.even};
}

Table::Steps arrays_of(const TableData& data) {
  std::vector<int64_t> codes(data.interval_codes.begin(), data.interval_codes.end());
  if (data.nan_code) codes.push_back(*data.nan_code);
  return {{data.thresholds.begin(), data.thresholds.end()},
          std::move(codes),
          {data.levels.begin(), data.levels.end()},
          data.even};
}

/// What floats take, as data.
void set_steps(TableData& data, const StepFunction& steps) {
  data.thresholds = floats_of(steps.thresholds);
  data.interval_codes = steps.codes;
  data.levels = floats_of(steps.levels);
  data.even = steps.even;
  if (steps.nan_code != steps.codes[0]) data.nan_code = steps.nan_code;
}

}  // namespace

Table::Table(TableData data) {
  check_levels(data);
  check_intervals(data);
  State state;
  if (const auto steps = exact_steps(data, at::kFloat)) {
    for (const at::ScalarType type : {at::kDouble, at::kBFloat16, at::kHalf}) {
      state.others[type] = arrays_of(*exact_steps(data, type));
    }
    set_steps(data, *steps);
  }
  state.floats = arrays_of(data);
  state.data = std::move(data);
  state_ = std::make_shared<const State>(std::move(state));
}

const Table::Steps& Table::steps(at::ScalarType type) const {
  const auto own = state_->others.find(type);
  return own == state_->others.end() ? state_->floats : own->second;
}

int Table::bits() const {
  return static_cast<int>(std::bit_width(state_->data.levels.size() - 1));
}

bool Table::is_for(const std::string& function, const std::vector<double>& parameters) const {
  return function == state_->data.function &&
         std::equal(parameters.begin(), parameters.end(), state_->data.parameters.begin(),
                    state_->data.parameters.end(), [](double a, double b) {
                      return static_cast<float>(a) == static_cast<float>(b);
                    });
}

}  // namespace fewbit
