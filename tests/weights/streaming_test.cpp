#include <cstdio>
#include <fstream>

#include "tests/support/memory.hpp"
#include "tests/weights/support.hpp"

namespace fewbit::solver::streaming_test {
/// Raw floats that rise and fall between -2 and 2.
std::string write_floats(const std::string& name, size_t count) {
  std::string path = write_temporary(name, "");
  std::ofstream out(path, std::ios::binary);
  std::vector<float> block(1000);
  for (size_t i = 0; i < block.size(); ++i) block[i] = static_cast<float>(i) * 0.004F - 2.0F;
  const std::string bytes = little_endian_bytes(block);
  for (size_t done = 0; done < count; done += block.size()) out << bytes;
  return path;
}

TEST(Samples, NeedTheSameMemoryForTenMillionAsForOne) {
  const auto few = write_floats("few.f32", 1'000'000);
  const auto many = write_floats("many.f32", 10'000'000);
  const auto expected = read_file(few);
  const int64_t before = test::peak_bytes();
  const auto spec = read_file(many);
  EXPECT_LT(test::peak_bytes() - before, 3 << 20);
  EXPECT_EQ(spec.masses.size(), expected.masses.size());
  std::remove(few.c_str());
  std::remove(many.c_str());
}
}  // namespace fewbit::solver::streaming_test
