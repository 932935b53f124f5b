// Passes over so much that they store past the caches give what others give: a range of a large
// pass, of which the rest is left alone.
#include <cstring>

#include <gtest/gtest.h>

#include "kernels/quantizer/group.hpp"
#include "kernels/quantizer/integers.hpp"
#include "kernels/quantizer/rotated.hpp"
#include "tests/kernels/inputs.hpp"
#include "tests/kernels/support.hpp"

namespace fewbit::kernels::past_cache_test {

constexpr int64_t kCount = 3 * kBlock;
constexpr int64_t kAll = int64_t{1} << 26;  ///< elements of the whole pass
constexpr ElementType kTypes[] = {ElementType::f32, ElementType::bf16, ElementType::f16,
                                  ElementType::f64};

/// With those after the range's own, which a pass may read.
constexpr size_t kCodeBytes = kCount + 64;

/// Zeros that begin at a multiple of 64 bytes, or one element after it.
class Output {
 public:
  Output(ElementType type, bool is_aligned)
      : bytes_(static_cast<size_t>(kCount * 8 + 128)), size_(kCount * element_bytes(type)) {
    const auto at = reinterpret_cast<uintptr_t>(bytes_.data());
    first_ = static_cast<int64_t>((64 - at % 64) % 64) + (is_aligned ? 0 : element_bytes(type));
  }
  uint8_t* data() { return bytes_.data() + first_; }
  std::vector<uint8_t> bytes() { return {data(), data() + size_}; }

 private:
  std::vector<uint8_t> bytes_;
  int64_t size_;
  int64_t first_;
};

/// `pass` writes the same to outputs that are aligned for that, and to others.
template <class Pass>
void expect_same(ElementType type, const std::string& name, const Pass& pass) {
  for_each_target([&](int64_t target) {
    Output past_cache(type, true);
    Output cached(type, false);
    pass(past_cache.data());
    pass(cached.data());
    ASSERT_EQ(past_cache.bytes(), cached.bytes())
        << name << ' ' << type_name(type) << ' ' << hwy::TargetName(target);
    ASSERT_NE(cached.bytes(), std::vector<uint8_t>(cached.bytes().size())) << name;
  });
}

TEST(PastCache, ActivationsGiveTheSame) {
  SyntheticTable table(3, 7, 5);
  const Range range{0, kCount, kAll};
  for (const ElementType type : kTypes) {
    const std::vector<uint8_t> x = bytes_of(normal_inputs(kCount, 3), type);
    for (const char* const name : {"gelu", "silu", "tanh", "mish", "elu", "relu", "hardswish"}) {
      std::vector<uint8_t> codes(kCodeBytes);
      expect_same(type, name, [&](uint8_t* y) {
        activation_forward(*find_activation(name), nullptr, table.view(), type, x.data(), y,
                           codes.data(), range);
      });
      expect_same(type, std::string(name) + " alone", [&](uint8_t* y) {
        activation_forward(*find_activation(name), nullptr, table.view(), type, x.data(), y,
                           nullptr, range);
      });
      expect_same(type, std::string(name) + " backward", [&](uint8_t* dx) {
        activation_backward(table.view(), type, x.data(), codes.data(), dx, range);
      });
    }
  }
}

TEST(PastCache, DecodedGroupsAndSignsAreTheSame) {
  for (const ElementType type : kTypes) {
    const std::vector<uint8_t> x = bytes_of(normal_inputs(kCount, 4), type);
    const GroupFormat format{type, 2, 256, Rounding::nearest, {1, 2}};
    std::vector<uint8_t> codes(kCodeBytes);
    std::vector<uint8_t> constants(static_cast<size_t>(kCount / 256 * 16));
    const Range range{0, kCount, kAll};
    group_encode(format, x.data(), codes.data(), constants.data(), range);
    expect_same(type, "group", [&](uint8_t* y) {
      group_decode(format, codes.data(), constants.data(), y, range);
    });
    const RotatedFormat rotated{type, 2, 256, kAll, {1, 2}};
    const GroupRange groups{0, kCount / 256};
    rotated_encode(rotated, x.data(), codes.data(), constants.data(), groups);
    expect_same(type, "rotated", [&](uint8_t* y) {
      rotated_decode(rotated, codes.data(), constants.data(), y, groups);
    });
    sign_encode(type, x.data(), codes.data(), range);
    expect_same(type, "sign", [&](uint8_t* y) { sign_decode(type, codes.data(), y, range); });
  }
}

}  // namespace fewbit::kernels::past_cache_test
