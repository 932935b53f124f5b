#include "fewbit/table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include <ATen/EmptyTensor.h>
#include <c10/core/InferenceMode.h>

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

/// Tables outlive the mode in which they are made: neither InferenceMode nor a transform of
/// functorch, which come in through the dispatcher, may leave their mark.
template <class T>
at::Tensor tensor_of(const std::vector<T>& values, at::ScalarType type) {
  const c10::InferenceMode no_inference(false);
  at::Tensor tensor = at::detail::empty_cpu({static_cast<int64_t>(values.size())}, type);
  std::copy(values.begin(), values.end(), tensor.mutable_data_ptr<T>());
  return tensor;
}

}  // namespace

Table::Table(TableData data) {
  check_levels(data);
  check_intervals(data);
  State state;
  state.thresholds = tensor_of(data.thresholds, at::kFloat);
  state.interval_codes = tensor_of(data.interval_codes, at::kByte);
  state.levels = tensor_of(data.levels, at::kFloat);
  state.data = std::move(data);
  state_ = std::make_shared<const State>(std::move(state));
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
