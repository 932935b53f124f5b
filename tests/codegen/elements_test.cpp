// Emitted code on all values of both 16-bit types: the C++ headers, and the CUDA headers as a host
// compiler reads them. x > t is decided in double, which holds every such x and t exactly.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "emitted/elu_half.cuh"
#include "emitted/elu_half.hpp"
#include "emitted/gelu_b8.cuh"
#include "emitted/gelu_b8.hpp"
#include "emitted/gelu_l17.cuh"
#include "emitted/gelu_l17.hpp"
#include "emitted/gelu_l18.cuh"
#include "emitted/gelu_l18.hpp"
#include "emitted/gelu_repeats.cuh"
#include "emitted/gelu_repeats.hpp"
#include "emitted/relu_constant.cuh"
#include "emitted/relu_constant.hpp"
#include "emitted/silu_edges.cuh"
#include "emitted/silu_edges.hpp"
#include "emitted/tanh_even.cuh"
#include "emitted/tanh_even.hpp"
#include "fixtures.hpp"
#include "tests/codegen/element_types.hpp"

namespace fewbit::elements_test {

using test::BFloat16;
using test::Float16;

template <class T>
using Forward = void (*)(const T* x, T* y, uint8_t* codes, size_t n);
template <class T>
using Backward = void (*)(const T* dy, const uint8_t* codes, T* dx, size_t n);

struct Emitted {
  const char* name;
  const char* language;
  float (*activation)(float);
  float (*decode)(unsigned);
  size_t (*code_bytes)(size_t);
  Forward<Float16> forward_half;
  Forward<BFloat16> forward_bfloat;
  Backward<Float16> backward_half;
  Backward<BFloat16> backward_bfloat;
};

void PrintTo(const Emitted& header, std::ostream* out) {
  *out << header.name << ' ' << header.language;
}

/// What the kernels do, one group after the other.
#define CUDA_LOOPS(name)                                                          \
  template <class T>                                                              \
  void name##_forward(const T* x, T* y, uint8_t* codes, size_t n) {               \
    for (size_t group = 0; group < emitted_cuda::name::group_count(n); ++group) { \
      emitted_cuda::name::forward_group(x, y, codes, n, group);                   \
    }                                                                             \
  }                                                                               \
  template <class T>                                                              \
  void name##_backward(const T* dy, const uint8_t* codes, T* dx, size_t n) {      \
    for (size_t group = 0; group * 8 < n; ++group) {                              \
      emitted_cuda::name::backward_group(dy, codes, dx, n, group);                \
    }                                                                             \
  }
CUDA_LOOPS(elu_half)
CUDA_LOOPS(gelu_b8)
CUDA_LOOPS(gelu_l17)
CUDA_LOOPS(gelu_l18)
CUDA_LOOPS(gelu_repeats)
CUDA_LOOPS(relu_constant)
CUDA_LOOPS(silu_edges)
CUDA_LOOPS(tanh_even)

#define BOTH(name)                                                                       \
  Emitted{#name,                                                                         \
          "cpp",                                                                         \
          emitted::name::activation,                                                     \
          emitted::name::decode,                                                         \
          emitted::name::code_bytes,                                                     \
          emitted::name::forward,                                                        \
          emitted::name::forward,                                                        \
          emitted::name::backward,                                                       \
          emitted::name::backward},                                                      \
      Emitted {                                                                          \
#name, "cuda", emitted_cuda::name::activation, emitted_cuda::name::decode,           \
        emitted_cuda::name::code_bytes, name##_forward, name##_forward, name##_backward, \
        name##_backward                                                                  \
  }
const Emitted kHeaders[] = {BOTH(elu_half),   BOTH(gelu_b8),      BOTH(gelu_l17),
                            BOTH(gelu_l18),   BOTH(gelu_repeats), BOTH(relu_constant),
                            BOTH(silu_edges), BOTH(tanh_even)};

class EmittedElements : public testing::TestWithParam<Emitted> {
 protected:
  template <class T>
  void expect_all(Forward<T> forward, Backward<T> backward) const {
    const solver::Table table = test::emitted_table(GetParam().name);
    const auto bits = static_cast<size_t>(table.bits());
    const std::vector<T> x = test::all_values<T>();
    std::vector<T> y(x.size());
    std::vector<uint8_t> codes(GetParam().code_bytes(x.size()));
    forward(x.data(), y.data(), codes.data(), x.size());
    std::vector<T> gradient(x.size(), T(0.3f));
    backward(gradient.data(), codes.data(), gradient.data(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const auto value = static_cast<float>(x[i]);
      const int code = table.codes[table.interval_of(static_cast<double>(value))];
      ASSERT_EQ(test::read_code(codes, bits, i), static_cast<unsigned>(code)) << "x = " << value;
      const T expected(GetParam().activation(value));
      ASSERT_EQ(std::isnan(static_cast<float>(y[i])), std::isnan(value));
      ASSERT_TRUE(y[i].bits == expected.bits || std::isnan(value)) << "x = " << value;
      const float level = GetParam().decode(static_cast<unsigned>(code));
      ASSERT_EQ(gradient[i].bits, T(static_cast<float>(T(0.3f)) * level).bits) << "x = " << value;
    }
  }
};

TEST_P(EmittedElements, OfHalfAreComparedExactly) {
  expect_all<Float16>(GetParam().forward_half, GetParam().backward_half);
}

TEST_P(EmittedElements, OfBFloat16AreComparedExactly) {
  expect_all<BFloat16>(GetParam().forward_bfloat, GetParam().backward_bfloat);
}

INSTANTIATE_TEST_SUITE_P(AllTables, EmittedElements, testing::ValuesIn(kHeaders),
                         [](const auto& header) {
                           return std::string(header.param.name) + "_" + header.param.language;
                         });

}  // namespace fewbit::elements_test
