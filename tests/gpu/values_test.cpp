// y is f(x), as good as the launchers' contract says.
#include "tests/gpu/gpu_test.hpp"
#include "tests/gpu/host_functions.hpp"
#include "tests/kernels/inputs.hpp"
#include "tests/support/allowed_error.hpp"

namespace fewbit::kernels::cuda {

namespace {

Bytes values(const Activation& activation, ElementType type, const Bytes& x,
             const double* parameters = nullptr) {
  const Memory from(x);
  const Memory to(from.bytes());
  const Stream stream;
  check(activation_forward(activation, parameters, {}, type, from.at(), to.at(), nullptr,
                           from.bytes() / element_bytes(type), stream),
        "forward");
  stream.wait();
  return to.download();
}

/// Place of a 16-bit value among all of its type; the zeros share theirs.
int place(const Bytes& bytes, int64_t i) {
  uint16_t half = 0;
  std::memcpy(&half, bytes.data() + 2 * i, 2);
  return half & 0x8000 ? -(half & 0x7FFF) : half;
}

void expect_nearest_or_beside(const HostFunction& f, ElementType type) {
  const std::vector<double> x = elements(every_half(), type);
  std::vector<double> exact(x.size());
  std::transform(x.begin(), x.end(), exact.begin(), f.value);
  const Bytes y = values(known(f.name), type, every_half());
  const Bytes rounded = bytes_of(exact, type);
  for (size_t n = 0; n < x.size(); ++n) {
    const auto i = static_cast<int64_t>(n);
    const double got = element(y, type, i);
    const bool is_good = std::isnan(exact[n]) || std::isnan(got)
                             ? std::isnan(exact[n]) && std::isnan(got)
                             : std::abs(place(y, i) - place(rounded, i)) <= 1;
    expect(is_good, f.name, type_name(type), "of", x[n], "is", got, "not", exact[n]);
  }
}

}  // namespace

GPU_TEST(every_16_bit_input_gets_the_nearest_value_or_the_one_beside, Cost::large) {
  for (const HostFunction& f : kHostFunctions) {
    for (const ElementType type : {ElementType::bf16, ElementType::f16}) {
      expect_nearest_or_beside(f, type);
    }
  }
}

GPU_TEST(floats_get_the_value_to_2_ulp_or_2_to_the_minus_24, Cost::large) {
  std::vector<double> x;
  const auto add = [&](uint32_t begin, uint32_t end, uint32_t step) {
    for (uint32_t bits = begin; bits < end; bits += step) {
      x.push_back(static_cast<double>(std::bit_cast<float>(bits)));
      x.push_back(-x.back());
    }
  };
  add(0x20000000, 0x43000000, 3331);
  add(0, 0x7F800000, 33331);
  for (const HostFunction& f : kHostFunctions) {
    const Bytes y = values(known(f.name), ElementType::f32, bytes_of(x, ElementType::f32));
    for (size_t i = 0; i < x.size(); ++i) {
      const double exact = f.value(x[i]);
      if (std::fabs(exact) > 3.4e38) continue;
      const double got = element(y, ElementType::f32, static_cast<int64_t>(i));
      expect(std::fabs(got - exact) <= allowed_error(exact, x[i]), f.name, "of", x[i], "is", got,
             "not", exact);
    }
  }
}

GPU_TEST(doubles_get_the_value_of_the_formula_in_double, Cost::small) {
  const std::vector<double> x = normal_inputs(3000, 22);
  for (const HostFunction& f : kHostFunctions) {
    const Bytes y = values(known(f.name), ElementType::f64, bytes_of(x, ElementType::f64));
    for (size_t i = 0; i < x.size(); ++i) {
      const double got = element(y, ElementType::f64, static_cast<int64_t>(i));
      const double allowed = 4e-15 * std::max(1.0, std::fabs(x[i]));
      expect(std::fabs(got - f.value(x[i])) <= allowed, f.name, "of", x[i], "is", got, "not",
             f.value(x[i]));
    }
  }
}

GPU_TEST(nan_stays_nan_and_infinities_go_to_the_limits, Cost::small) {
  for (const HostFunction& f : kHostFunctions) {
    for (const ElementType type : kTypes) {
      std::vector<double> x = {NAN, -INFINITY, INFINITY};
      x.resize(2048, INFINITY);  // whole tiles
      const std::vector<double> y = elements(values(known(f.name), type, bytes_of(x, type)), type);
      expect(std::isnan(y[0]), f.name, type_name(type), "of NaN is", y[0]);
      for (const int side : {1, 2}) {
        const double limit =
            element(bytes_of({f.value(x[static_cast<size_t>(side)])}, type), type, 0);
        const double got = y[static_cast<size_t>(side)];
        expect(std::fabs(got - limit) <= 1e-3 * std::fabs(limit) || got == limit, f.name,
               type_name(type), "has the limit", got, "not", limit);
      }
    }
  }
}

GPU_TEST(parameters_are_those_that_are_given, Cost::small) {
  const std::vector<double> x = normal_inputs(3000, 23);
  const auto expect_values = [&](const char* function, const std::vector<double>& parameters,
                                 double (*f)(double)) {
    const Bytes y =
        values(known(function), ElementType::f32, bytes_of(x, ElementType::f32), parameters.data());
    for (size_t i = 0; i < x.size(); ++i) {
      const double exact = f(static_cast<double>(static_cast<float>(x[i])));
      const double got = element(y, ElementType::f32, static_cast<int64_t>(i));
      expect(std::fabs(got - exact) <= 1e-6 * std::max(1.0, std::fabs(exact)), function, "of", x[i],
             "is", got, "not", exact);
    }
  };
  expect_values("elu", {0.5f}, [](double at) { return at > 0.0 ? at : 0.5 * std::expm1(at); });
  expect_values("leaky_relu", {0.25f}, [](double at) { return at > 0.0 ? at : 0.25 * at; });
  expect_values("softplus", {2.0f, 20.0f}, [](double at) {
    return 2.0 * at > 20.0 ? at : std::log1p(std::exp(2.0 * at)) / 2.0;
  });
}

}  // namespace fewbit::kernels::cuda
