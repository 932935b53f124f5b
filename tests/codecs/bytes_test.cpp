// What a codec will hold is known before it runs.
#include <gtest/gtest.h>

#include "tests/codecs/support.hpp"

namespace fewbit::codecs::bytes_test {

TEST(CodecBytes, AreKnownBeforeItRuns) {
  std::vector<CodecPointer> codecs = {mask(),
                                      sizes_only(),
                                      identity(),
                                      cast(at::kBFloat16),
                                      cast(at::kFloat8_e4m3fn),
                                      cast(at::kFloat8_e5m2),
                                      grouped(at::tensor({1, 8, 3, 2}).to(at::kByte), 64)};
  for (int bits = 1; bits <= 8; ++bits) {
    codecs.push_back(grouped(bits));
    codecs.push_back(squares(bits));
    codecs.push_back(rotated({bits, 64}));
    codecs.push_back(frequency_split(bits));
  }
  codecs.push_back(normal_fixed_point(2, {.over = {0}}));
  codecs.push_back(normal_fixed_point(3, {.over = {1}, .weight = at::randn({33})}));
  for (const CodecPointer& codec : codecs) {
    for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble}) {
      for (const auto& sizes :
           {std::vector<int64_t>{4, 1}, {4, 33}, {4, 3, 5, 7}, {4, 2, 33}, {4, 1, 3, 5, 35}}) {
        const at::Tensor x = at::randn(sizes).to(type);
        if (!codec->takes(x)) continue;
        EXPECT_EQ(bytes_ahead(*codec, x), bytes_of(*codec->encode(x, random_of(1))))
            << codec->name() << ' ' << x.sizes() << ' ' << type;
      }
    }
  }
}

TEST(CodecBytes, AreNotWhereTheyDependOnValues) {
  EXPECT_EQ(bytes_ahead(*integers(), at::arange(100)), std::nullopt);
}

TEST(CodecBytes, NeedNoMemoryOfTheSizeOfTheTensor) {
  const int64_t many = (int64_t{1} << 33) + 1;
  const at::Tensor x = at::empty({4, many}, at::TensorOptions(at::kMeta).dtype(at::kFloat));
  EXPECT_EQ(bytes_ahead(*cast(at::kFloat8_e5m2), x), 4 * many);
  const CodecPointer samples = grouped(at::tensor({1, 8, 3, 4}).to(at::kByte));
  const int64_t groups = (many + 255) / 256;
  EXPECT_EQ(bytes_ahead(*samples, x), (int64_t{1} << 34) + 4 * 16 + 4 * groups * 4 + 4);
}

}  // namespace fewbit::codecs::bytes_test
