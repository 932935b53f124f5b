// The codes of the device are those of the definition.
#include "tests/gpu/gpu_test.hpp"
#include "tests/gpu/host_functions.hpp"
#include "tests/kernels/inputs.hpp"

namespace fewbit::kernels::cuda {

namespace {

constexpr ElementType kHalves[] = {ElementType::bf16, ElementType::f16};

void expect_codes(const char* function, const StepView& steps, ElementType type, const Bytes& x,
                  const std::string& what) {
  const Pass pass = run_forward(known(function), steps, type, x);
  const Bytes expected = reference_stream(steps, elements(x, type));
  expect(pass.codes == expected, what, type_name(type), "codes differ from byte",
         first_difference(pass.codes, expected));
}

std::string title(const NamedTable& named) {
  return std::string(named.function) + ' ' + named.table->name;
}

}  // namespace

GPU_TEST(every_16_bit_input_gets_the_code_of_the_definition_for_every_table, Cost::large) {
  for (const NamedTable& named : all_tables()) {
    if (named.table->threshold_count == 0) continue;
    for (const ElementType type : kHalves) {
      expect_codes(named.function, view_of(*named.table), type, every_half(), title(named));
    }
  }
}

GPU_TEST(floats_and_doubles_get_the_code_of_the_definition_around_thresholds, Cost::large) {
  for (const NamedTable& named : all_tables()) {
    const StepView steps = view_of(*named.table);
    if (steps.threshold_count == 0) continue;
    std::vector<double> near = around_thresholds<float>(steps);
    near.resize(2048 + 77, 0.25);  // two whole tiles, and a rest
    const auto floats = bytes_of(near, ElementType::f32);
    const auto doubles = bytes_of(around_thresholds<double>(steps), ElementType::f64);
    expect_codes(named.function, steps, ElementType::f32, floats, title(named));
    expect_codes(named.function, steps, ElementType::f64, doubles, title(named));
  }
}

GPU_TEST(any_thresholds_and_codes_of_1_to_8_bits_work, Cost::small) {
  for (int bits = 1; bits <= 8; ++bits) {
    for (const int thresholds : {0, 1, 2, 7, 10, 31, 100, 255, 1023}) {
      SyntheticTable table(bits, thresholds, static_cast<uint32_t>(100 * bits + thresholds));
      table.even = bits % 2 == 0;
      const StepView steps = table.view();
      for (const ElementType type : kTypes) {
        std::vector<double> x = around_thresholds<float>(steps);
        x.insert(x.end(), 3000, 0.5);
        expect_codes("gelu", steps, type, bytes_of(x, type),
                     std::to_string(bits) + " bits, " + std::to_string(thresholds) + " thresholds");
      }
    }
  }
}

GPU_TEST(thresholds_beyond_16_bit_types_at_zeros_and_at_the_same_place_work, Cost::small) {
  SyntheticTable table(3, 8, 5);
  table.thresholds = {-1e38f, -1e30f, -0.0f, 0.0f, 1e-40f, 1.0f, 1.0f, 1e38f};
  for (const bool even : {false, true}) {
    table.even = even;
    for (const ElementType type : kHalves) {
      expect_codes("tanh", table.view(), type, every_half(), "special thresholds");
    }
    std::vector<double> x = around_thresholds<float>(table.view());
    x.resize(2048 + 77, 0.25);
    expect_codes("tanh", table.view(), ElementType::f32, bytes_of(x, ElementType::f32), "special");
  }
}

namespace {

/// The code of the unbiased form, or -1 where the draw is too close to the chance to say.
int unbiased_code(const StepView& steps, double slope, PhiloxState random, int64_t i) {
  int lower = 0;
  while (lower + 2 < steps.level_count && slope >= static_cast<double>(steps.levels[lower + 1])) {
    ++lower;
  }
  const double low = static_cast<double>(steps.levels[lower]);
  const double high = static_cast<double>(steps.levels[lower + 1]);
  const double chance = (slope - low) / (high - low);
  const double drawn = static_cast<double>(uniform(random, static_cast<uint64_t>(i)));
  return std::fabs(drawn - chance) < 1e-5 ? -1 : lower + (drawn < chance);
}

}  // namespace

GPU_TEST(unbiased_codes_are_chosen_by_the_stated_uniform_number, Cost::small) {
  const PhiloxState random{11, 12};
  const std::vector<double> inputs = normal_inputs(5000, 34);
  for (const NamedTable& named : all_tables()) {
    const StepView steps = view_of(*named.table);
    if (steps.threshold_count > 0) continue;
    const HostFunction& f = host_function(named.function);
    for (const ElementType type : kTypes) {
      const Bytes x = bytes_of(inputs, type);
      const Pass pass = run_forward(known(named.function), steps, type, x, &random);
      for (int64_t i = 0; i < static_cast<int64_t>(inputs.size()); ++i) {
        const double slope = static_cast<double>(f.slope(static_cast<float>(element(x, type, i))));
        const int code = unbiased_code(steps, slope, random, i);
        expect(code < 0 || code == code_at(pass.codes, steps.bits, i), title(named),
               type_name(type), "code of element", i);
      }
    }
  }
}

}  // namespace fewbit::kernels::cuda
