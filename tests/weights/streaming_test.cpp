#include <cstdio>
#include <fstream>

#include <sys/resource.h>

#include "tests/weights/support.hpp"

namespace fewbit::solver {
namespace {

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

long peak_kibibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(Samples, NeedTheSameMemoryForTenMillionAsForOne) {
  const auto few = write_floats("few.f32", 1'000'000);
  const auto many = write_floats("many.f32", 10'000'000);
  const auto expected = read_file(few);
  const long before = peak_kibibytes();
  const auto spec = read_file(many);
  EXPECT_LT(peak_kibibytes() - before, 3 * 1024);
  EXPECT_EQ(spec.masses.size(), expected.masses.size());
  std::remove(few.c_str());
  std::remove(many.c_str());
}

}  // namespace
}  // namespace fewbit::solver
