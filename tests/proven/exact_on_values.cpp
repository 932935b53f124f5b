#include "tests/proven/exact_on_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fewbit::test {

namespace {

using Values = std::vector<ValueShare>;

/// Values that no threshold parts stand together.
using Places = std::vector<Values>;

template <class Key>
Places places_along(Values values, const Key& key) {
  std::stable_sort(values.begin(), values.end(),
                   [&](const ValueShare& a, const ValueShare& b) { return key(a) < key(b); });
  Places places;
  for (const ValueShare& value : values) {
    if (places.empty() || key(places.back().front()) < key(value)) places.emplace_back();
    places.back().push_back(value);
  }
  return places;
}

/// Of the places [begin, end).
long double variance_of(const Places& places, size_t begin, size_t end) {
  long double share = 0.0L;
  long double first = 0.0L;
  for (size_t i = begin; i < end; ++i) {
    for (const ValueShare& value : places[i]) {
      share += value.share;
      first += value.share * value.slope;
    }
  }
  const long double mean = first / share;
  long double sum = 0.0L;
  for (size_t i = begin; i < end; ++i) {
    for (const ValueShare& value : places[i]) {
      sum += value.share * (value.slope - mean) * (value.slope - mean);
    }
  }
  return sum;
}

/// Of rounding what lies between two neighbouring levels, which are at places.
long double rounding_of(const Places& places, size_t begin, size_t end) {
  const long double lower = places[begin].front().slope;
  const long double upper = places[end].front().slope;
  long double sum = 0.0L;
  for (size_t i = begin + 1; i < end; ++i) {
    for (const ValueShare& value : places[i]) {
      sum += value.share * (value.slope - lower) * (upper - value.slope);
    }
  }
  return sum;
}

/// At most `parts` of them, from 0 to `last`.
template <class Cost>
long double least_total(size_t last, int parts, const Cost& cost) {
  std::vector<long double> totals(last + 1, std::numeric_limits<long double>::infinity());
  totals[0] = 0.0L;
  for (int part = 0; part < parts; ++part) {
    std::vector<long double> next = totals;
    for (size_t end = 1; end <= last; ++end) {
      for (size_t begin = 0; begin < end; ++begin) {
        next[end] = std::min(next[end], totals[begin] + cost(begin, end));
      }
    }
    totals = next;
  }
  return totals[last];
}

long double least_variance(const Places& places, int levels) {
  const size_t count = places.size();
  std::vector<long double> costs((count + 1) * (count + 1));
  for (size_t begin = 0; begin < count; ++begin) {
    for (size_t end = begin + 1; end <= count; ++end) {
      costs[begin * (count + 1) + end] = variance_of(places, begin, end);
    }
  }
  return least_total(count, levels,
                     [&](size_t begin, size_t end) { return costs[begin * (count + 1) + end]; });
}

}  // namespace

long double exact_on_values(Values values, solver::Form form, int levels, bool folds) {
  const auto slope = [](const ValueShare& value) { return value.slope; };
  if (form == solver::Form::levels) return least_variance(places_along(values, slope), levels);
  if (form == solver::Form::unbiased) {
    const Places places = places_along(values, slope);
    return least_total(places.size() - 1, levels - 1,
                       [&](size_t begin, size_t end) { return rounding_of(places, begin, end); });
  }
  const auto place = [](const ValueShare& value) { return value.x; };
  const auto magnitude = [](const ValueShare& value) { return std::fabs(value.x); };
  const long double plain = least_variance(places_along(values, place), levels);
  if (!folds) return plain;
  return std::min(plain, least_variance(places_along(values, magnitude), levels));
}

long double error_on_values(const Values& values, const solver::Table& table) {
  const std::vector<double>& levels = table.levels;
  long double sum = 0.0L;
  for (const ValueShare& value : values) {
    if (table.problem.form == solver::Form::unbiased) {
      const auto inside = std::clamp<long double>(value.slope, levels.front(), levels.back());
      size_t above = 1;
      while (above + 1 < levels.size() && levels[above] < inside) ++above;
      sum += value.share * (inside - levels[above - 1]) * (levels[above] - inside);
    } else {
      const auto code = static_cast<size_t>(table.codes[table.interval_of(value.x)]);
      sum += value.share * (value.slope - levels[code]) * (value.slope - levels[code]);
    }
  }
  return sum;
}

}  // namespace fewbit::test
