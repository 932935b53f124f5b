// The unbiased form on CUDA devices, on the host: the CPU kernels' codes, bit for bit.
#include <gtest/gtest.h>

#include "kernels/cuda/function.hpp"
#include "tests/kernels/warp.hpp"

namespace fewbit::kernels::cuda {

namespace {

using enum ElementType;

constexpr PhiloxState kRandom = {0x123456789ABCDEFu, 0x42u};

template <class F, ElementType kType>
void expect_the_cpus_codes(const kernels::Activation& activation, const StepView& steps) {
  Parameters parameters{};
  std::copy_n(activation.default_parameters, activation.parameter_count, parameters.value);
  const Bytes x = bytes_of(normal_inputs(3000, 4), kType);
  Bytes y(x.size());
  Bytes expected(static_cast<size_t>(code_bytes(3000, steps.bits)));
  kernels::forward_unbiased(activation, nullptr, steps, kRandom, kType, x.data(), y.data(),
                            expected.data(), {0, 3000, 3000});
  const RoundingTable table = rounding_table(steps);
  const Bytes codes = stream_slowly(3000, steps.bits, [&](int64_t i) {
    const float slope = F::derivative(load_element<kType>(x.data(), i, false), parameters);
    return rounded_code(table, slope, uniform(kRandom, static_cast<uint64_t>(i)));
  });
  ASSERT_EQ(codes, expected) << activation.name << ' ' << type_name(kType);
}

template <class F>
int expect_the_cpus_codes(const char* name) {
  int tables = 0;
  for (const NamedTable& named : all_tables()) {
    if (std::string(named.function) != name || named.table->threshold_count != 0) continue;
    ++tables;
    for_types<f32, bf16, f16, f64>([&]<ElementType kType> {
      expect_the_cpus_codes<F, kType>(*kernels::find_activation(name), view_of(*named.table));
    });
  }
  return tables;
}

TEST(CudaUnbiased, CodesAreTheCpusForEveryTableOfTheForm) {
  int tables = 0;
#define FEWBIT_FUNCTION(name, ...)                                         \
  tables += expect_the_cpus_codes<                                         \
      Function<&generated::name::activation, &generated::name::activation, \
               &generated::name::wide_activation, &generated::name::derivative>>(#name);
#include "generated/registry.inc"
  EXPECT_GT(tables, 20);
}

}  // namespace

}  // namespace fewbit::kernels::cuda
