// Functions as a consumer may add them: whatever is fitted to them serves every x, and what nothing
// can be fitted to is computed by its own loop.
#include <cmath>

#include <gtest/gtest.h>

#include "kernels/activation/cpu/fit.hpp"
#include "kernels/activation/cpu/function_kernels.hpp"
#include "tests/kernels/inputs.hpp"
#include "tests/kernels/support.hpp"

namespace fewbit::kernels::own_functions_test {

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

double silu(double x) {
  return x < -800.0 ? 0.0 : x * sigmoid(x);
}

double softplus(double x) {
  return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
}

double relu(double x) {
  return x > 0.0 ? x : 0.0;
}

/// NaN stays NaN.
double least(double x, double bound) {
  return x > bound ? bound : x;
}

/// One function, its kinks, and what should be fitted to it.
struct Own {
  const char* name;
  double (*f)(double);
  std::vector<double> kinks;
  const char* fit;  ///< "" for none
};

const Own kOwn[] = {
    {"min(max(x, 0), 100)", [](double x) { return least(relu(x), 100.0); }, {0.0, 100.0}, "lines"},
    {"min(max(x, 0), 1e6)", [](double x) { return least(relu(x), 1e6); }, {0.0, 1e6}, "lines"},
    {"clamp(x, -1e4, 3)",
     [](double x) { return x < -1e4 ? -1e4 : least(x, 3.0); },
     {-1e4, 3.0},
     "lines"},
    {"max(x, 0.1*x)", [](double x) { return x > 0.0 ? x : 0.1 * x; }, {0.0}, "lines"},
    {"max(x, 0) but at 50",
     [](double x) { return std::fabs(x - 50.05) < 1e-3 ? 0.0 : relu(x); },
     {0.0, 50.049, 50.051},
     ""},
    {"min(x*sigmoid(x), 100)", [](double x) { return least(silu(x), 100.0); }, {100.0}, ""},
    {"max(x*sigmoid(x), x/1e6)", [](double x) { return std::fmax(silu(x), x / 1e6); }, {0.0}, ""},
    {"silu to 1e30", [](double x) { return x > 1e30 ? 2.0 * x : silu(x); }, {1e30}, ""},
    {"min(softplus(x), 50)", [](double x) { return least(softplus(x), 50.0); }, {50.0}, ""},
    {"max(-softplus(-x), -40)", [](double x) { return -least(softplus(-x), 40.0); }, {-40.0}, ""},
    {"sigmoid(x) to -60", [](double x) { return x < -60.0 ? 1.0 : sigmoid(x); }, {-60.0}, ""},
    {"tanh(x) to 1e5", [](double x) { return x > 1e5 ? 2.0 : std::tanh(x); }, {1e5}, ""},
    {"tanh(x)", [](double x) { return std::tanh(x); }, {}, "segments"},
    {"sigmoid(2*x)", [](double x) { return sigmoid(2.0 * x); }, {}, "logistic"},
    {"x^3", [](double x) { return x * x * x; }, {}, ""},
    {"sin(x)", [](double x) { return std::isinf(x) ? NAN : std::sin(x); }, {}, ""},
};

template <size_t kIndex, class Real>
void run_loop(const Real* x, Real* y, const Real*) {
  for (int64_t i = 0; i < kBlock; ++i) {
    y[i] = static_cast<Real>(kOwn[kIndex].f(static_cast<double>(x[i])));
  }
}

template <size_t kIndex>
void run_slope(const float* x, float* slope, const float*) {
  for (int64_t i = 0; i < kBlock; ++i) slope[i] = x[i];  // of many values: no lines
}

template <size_t kIndex>
DefaultFunction default_function() {
  const std::vector<double>& kinks = kOwn[kIndex].kinks;
  return {run_loop<kIndex, double>, nullptr, nullptr, static_cast<int>(kinks.size()), kinks.data()};
}

template <size_t kIndex>
const Fitted& fitted() {
  static const Fitted fitted = fit(default_function<kIndex>());
  return fitted;
}

template <size_t kIndex>
const HalfValues& halves(ElementType type) {
  const auto tabulate = [](ElementType of) {
    return tabulate_halves(of, run_slope<kIndex>, default_function<kIndex>());
  };
  static const HalfValues bf16 = tabulate(ElementType::bf16);
  static const HalfValues f16 = tabulate(ElementType::f16);
  return type == ElementType::bf16 ? bf16 : f16;
}

template <size_t kIndex>
const HalfSource& half_source(ElementType type, FindHalfSource* find) {
  const auto of = [find](ElementType half) {
    return find(half, halves<kIndex>(half), fitted<kIndex>());
  };
  static const HalfSource bf16 = of(ElementType::bf16);
  static const HalfSource f16 = of(ElementType::f16);
  return type == ElementType::bf16 ? bf16 : f16;
}

template <size_t kIndex>
const FunctionKernels& kernels_of() {
  static constexpr ValueKernels kLoops = {run_loop<kIndex, float>, run_slope<kIndex>,
                                          run_loop<kIndex, double>};
  static const FunctionKernels kernels = {{kLoops, kLoops, kLoops},
                                          default_function<kIndex>(),
                                          fitted<kIndex>,
                                          halves<kIndex>,
                                          half_source<kIndex>};
  return kernels;
}

template <size_t... I>
std::vector<Activation> own_activations(std::index_sequence<I...>) {
  return {Activation{kOwn[I].name, 0, nullptr, &kernels_of<I>()}...};
}

const std::vector<Activation>& own_activations() {
  static const auto all = own_activations(std::make_index_sequence<std::size(kOwn)>());
  return all;
}

std::string fit_of(const Fitted& fitted) {
  constexpr const char* kNames[] = {"", "lines", "logistic", "segments"};
  return kNames[fitted.index()];
}

TEST(OwnFunctions, HaveAFitOnlyWhereItServesEveryX) {
  for (size_t i = 0; i < std::size(kOwn); ++i) {
    EXPECT_EQ(fit_of(own_activations()[i].kernels->fitted()), kOwn[i].fit) << kOwn[i].name;
  }
}

TEST(OwnFunctions, HaveNoFitWhereTheirKinksAreNotKnown) {
  DefaultFunction function = default_function<0>();
  function.kink_count = -1;
  EXPECT_EQ(fit_of(fit(function)), "");
}

std::vector<double> inputs(const Own& own) {
  std::vector<double> x;
  for (const float at : telling_points(own.kinks)) x.push_back(static_cast<double>(at));
  for (const double at : {50.0499, 50.05, 50.0505, 77.7, 150.0, -150.0, 1e3, 1e31, -1e31}) {
    x.push_back(at);
  }
  return x;
}

TEST(OwnFunctions, HaveTheirValuesAllOverTheTypes) {
  const uint8_t no_code = 0;
  const StepView none{1, false, 0, nullptr, &no_code, 0, nullptr};
  for (size_t i = 0; i < std::size(kOwn); ++i) {
    for (const ElementType type : {ElementType::f32, ElementType::bf16, ElementType::f16}) {
      const std::vector<uint8_t> bytes = bytes_of(inputs(kOwn[i]), type);
      const std::vector<double> x = elements(bytes, type);
      for_each_target([&](int64_t target) {
        const Forward pass = run_forward(own_activations()[i], none, type, bytes);
        for (size_t n = 0; n < x.size(); ++n) {
          const double exact = kOwn[i].f(x[n]);
          const double y = element(pass.y, type, static_cast<int64_t>(n));
          const std::vector<double> ends = elements(
              bytes_of({exact - allowed(exact, x[n]), exact + allowed(exact, x[n])}, type), type);
          const bool is_nan = std::isnan(exact) && std::isnan(y);
          const bool is_same_infinity = std::isinf(exact) && y == exact;
          ASSERT_TRUE(is_nan || is_same_infinity || (ends[0] <= y && y <= ends[1]))
              << kOwn[i].name << " at " << x[n] << ": " << y << ", not " << exact << ' '
              << type_name(type) << ' ' << hwy::TargetName(target);
        }
      });
    }
  }
}

}  // namespace fewbit::kernels::own_functions_test
