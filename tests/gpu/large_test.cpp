// More elements than 32 bits count. The inputs repeat, so that the results have to as well: those
// of one period are tested elsewhere.
#include <cstdio>

#include "tests/gpu/gpu_test.hpp"
#include "tests/gpu/periodic.hpp"
#include "tests/kernels/inputs.hpp"

namespace fewbit::kernels::cuda {

namespace {

constexpr int64_t kCount = (int64_t{1} << 31) + 17;
constexpr int64_t kPeriod = 65536;

/// Bytes of a result of kCount elements that differ from the repeated `pattern`.
int64_t differences(const Bytes& pattern, const Memory& result, int64_t bytes) {
  const Memory period(pattern);
  Memory count(Bytes(sizeof(unsigned long long), 0));
  check(count_differences(period.at(), period.bytes(), result.at(), bytes,
                          reinterpret_cast<unsigned long long*>(count.at()), nullptr),
        "count");
  unsigned long long found = 0;
  std::memcpy(&found, count.download().data(), sizeof found);
  return static_cast<int64_t>(found);
}

/// The codes of the last elements share their byte with the zeros of the tail.
void expect_tail(const Bytes& pattern, const Memory& codes, int bits) {
  const int64_t whole = kCount * bits / 8;
  const Bytes tail = codes.download(whole, codes.bytes() - whole);
  for (int64_t bit = 0; bit < 8 * static_cast<int64_t>(tail.size()); ++bit) {
    const int64_t position = 8 * whole + bit;
    const int64_t from = position % (kPeriod * bits);
    const int expected =
        position < kCount * bits ? pattern[static_cast<size_t>(from / 8)] >> from % 8 & 1 : 0;
    expect((tail[static_cast<size_t>(bit / 8)] >> bit % 8 & 1) == expected, "tail bit", bit);
  }
}

void expect_large(ElementType type, const StepView& steps) {
  const int64_t bytes = kCount * element_bytes(type);
  size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "memory");
  const int64_t needed = 2 * bytes + code_bytes(kCount, steps.bits) + (int64_t{1} << 28);
  if (static_cast<int64_t>(free) < needed) {
    std::printf("left out: %s needs %.1f GB, %.1f GB are free\n", type_name(type).c_str(),
                1e-9 * static_cast<double>(needed), 1e-9 * static_cast<double>(free));
    return;
  }
  const Bytes x =
      type == ElementType::f32 ? bytes_of(normal_inputs(kPeriod, 1), type) : every_half();
  const Pass pattern = run_forward(known("gelu"), steps, type, x);
  const Bytes gradients = run_backward(steps, type, x, pattern.codes);
  const Memory from(bytes), to(bytes), codes(code_bytes(kCount, steps.bits)), period(x);
  const Stream stream;
  check(repeat(period.at(), period.bytes(), from.at(), bytes, nullptr), "repeat");
  check(cudaDeviceSynchronize(), "repeat");
  check(activation_forward(known("gelu"), nullptr, steps, type, from.at(), to.at(), codes.at(),
                           kCount, stream),
        "forward");
  stream.wait();
  expect(differences(pattern.y, to, bytes) == 0, type_name(type), "values differ");
  Bytes code_pattern = pattern.codes;
  code_pattern.resize(static_cast<size_t>(kPeriod / 8 * steps.bits));
  expect(differences(code_pattern, codes, kCount * steps.bits / 8) == 0, "codes differ");
  expect_tail(code_pattern, codes, steps.bits);
  check(activation_backward(steps, type, from.at(), codes.at(), to.at(), kCount, stream),
        "backward");
  stream.wait();
  expect(differences(gradients, to, bytes) == 0, type_name(type), "gradients differ");
}

}  // namespace

GPU_TEST(two_to_the_31_plus_17_elements_work, Cost::large) {
  expect_large(ElementType::bf16, view_of(generated::gelu::tables::levels_normal_b3));
  expect_large(ElementType::f32, view_of(generated::gelu::tables::levels_normal_b4));
}

}  // namespace fewbit::kernels::cuda
