// Any count, any alignment, in place; nothing is written but what belongs to the result.
#include "tests/gpu/gpu_test.hpp"

namespace fewbit::kernels::cuda {

namespace {

void expect_pass(int bits, ElementType type, int64_t count, Shifts shifts) {
  const SyntheticTable table(bits, (1 << bits) - 1, static_cast<uint32_t>(bits));
  const StepView steps = table.view();
  const std::vector<double> inputs = normal_inputs(count, 3);
  const Bytes x = bytes_of(inputs, type);
  const Pass pass = run_forward(known("silu"), steps, type, x, nullptr, shifts);
  // Values are tested elsewhere: here the aligned pass of more elements is right.
  std::vector<double> more = inputs;
  more.resize(static_cast<size_t>(count + 2048), 0.0);
  const Pass whole = run_forward(known("silu"), steps, type, bytes_of(more, type));
  const auto what = [&] {
    std::ostringstream text;
    text << bits << " bits " << type_name(type) << ' ' << count << " elements, shifts " << shifts.x
         << ' ' << shifts.y << ' ' << shifts.codes;
    return text.str();
  }();
  expect(std::equal(pass.y.begin(), pass.y.end(), whole.y.begin()), what, "values differ");
  const Bytes expected = reference_stream(steps, elements(x, type));
  expect(pass.codes == expected, what, "codes differ from byte",
         first_difference(pass.codes, expected));
  const Bytes dx = run_backward(steps, type, x, pass.codes, shifts);
  expect(dx == reference_backward(steps, type, x, pass.codes), what, "gradients differ");
}

}  // namespace

GPU_TEST(counts_from_0_to_70_and_around_tiles_work, Cost::small) {
  std::vector<int64_t> counts;
  for (int64_t n = 0; n <= 70; ++n) counts.push_back(n);
  for (const int64_t edge : {128, 256, 512, 1024, 2048, 8192, 16384}) {
    for (const int64_t beside : {-9, -1, 0, 1, 17}) counts.push_back(edge + beside);
  }
  for (const int64_t count : counts) {
    for (const ElementType type : kTypes) expect_pass(3, type, count, {});
  }
  for (int bits = 1; bits <= 8; ++bits) {
    for (const ElementType type : kTypes) expect_pass(bits, type, 8192 + 5, {});
  }
}

GPU_TEST(all_counts_of_a_tile_work, Cost::large) {
  for (int64_t count = 1; count <= 1100; ++count) {
    expect_pass(1 + static_cast<int>(count % 8), kTypes[count / 8 % 4], count, {});
  }
}

GPU_TEST(pointers_of_any_alignment_work, Cost::small) {
  for (const ElementType type : kTypes) {
    const int64_t size = element_bytes(type);
    for (int64_t shift = 0; shift < 16; shift += size) {
      for (const Shifts shifts : {Shifts{shift, 0, 0}, Shifts{0, shift, 0},
                                  Shifts{0, 0, shift / size}, Shifts{shift, shift, 16 - size}}) {
        for (const int bits : {1, 3, 8}) expect_pass(bits, type, 2 * 1024 + 77, shifts);
      }
    }
  }
}

GPU_TEST(y_may_be_x_and_dx_may_be_dy, Cost::small) {
  for (const int thresholds : {7, 300}) {
    const SyntheticTable table(4, thresholds, 8);
    for (const ElementType type : kTypes) {
      const Bytes x = bytes_of(normal_inputs(5000, 4), type);
      const Pass apart = run_forward(known("gelu"), table.view(), type, x);
      const Memory both(x);
      const Memory codes(static_cast<int64_t>(apart.codes.size()));
      const Stream stream;
      check(activation_forward(known("gelu"), nullptr, table.view(), type, both.at(), both.at(),
                               codes.at(), 5000, stream),
            "forward");
      expect(both.download() == apart.y && codes.download() == apart.codes, type_name(type),
             thresholds, "thresholds: forward in place differs");
      check(activation_backward(table.view(), type, both.at(), codes.at(), both.at(), 5000, stream),
            "backward");
      expect(both.download() == run_backward(table.view(), type, apart.y, apart.codes),
             type_name(type), "backward in place differs");
    }
  }
}

GPU_TEST(tables_may_go_as_soon_as_a_launcher_returns, Cost::small) {
  const Bytes x = bytes_of(normal_inputs(1 << 20, 4), ElementType::f32);
  for (const int thresholds : {7, 300}) {
    SyntheticTable table(4, thresholds, 9);
    const Pass expected = run_forward(known("tanh"), table.view(), ElementType::f32, x);
    const Memory from(x), to(from.bytes()), codes(static_cast<int64_t>(expected.codes.size()));
    const Stream stream;
    std::vector<double> parameters(8, 0.0);
    check(activation_forward(known("tanh"), parameters.data(), table.view(), ElementType::f32,
                             from.at(), to.at(), codes.at(), 1 << 20, stream),
          "forward");
    std::fill(table.thresholds.begin(), table.thresholds.end(), 0.0f);
    std::fill(table.codes.begin(), table.codes.end(), uint8_t{0});
    std::fill(parameters.begin(), parameters.end(), 1.0);
    expect(to.download() == expected.y && codes.download() == expected.codes, "the pass changed");
  }
}

}  // namespace fewbit::kernels::cuda
