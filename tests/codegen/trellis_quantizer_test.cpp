#include "codegen/trellis_quantizer.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "generated/trellis_quantizer.hpp"

namespace fewbit::codegen::trellis_quantizer_test {

using solver::TrellisQuantizer;

std::vector<TrellisQuantizer> shipped() {
  return load_trellises(FEWBIT_SOURCE_DIR "/tables");
}

TEST(TrellisQuantizer, IsWhatTheTablesSay) {
  ASSERT_EQ(shipped().size(), 8u);
  for (const TrellisQuantizer& table : shipped()) {
    const generated::TrellisQuantizer& ours =
        generated::trellis_quantizer(table.bits, table.states);
    EXPECT_EQ(ours.bits, table.bits);
    EXPECT_EQ(ours.states, table.states);
    EXPECT_EQ(ours.error, table.error);
    for (size_t i = 0; i < table.levels.size(); ++i) {
      EXPECT_EQ(ours.levels[i], static_cast<float>(table.levels[i]));
    }
  }
}

TEST(TrellisQuantizer, NeedsAllOfThem) {
  EXPECT_TRUE(trellis_quantizer_files({}).empty());
  for (const size_t missing : {size_t{0}, size_t{3}, size_t{7}}) {
    std::vector<TrellisQuantizer> bad = shipped();
    bad.erase(bad.begin() + static_cast<std::ptrdiff_t>(missing));
    EXPECT_THROW(trellis_quantizer_files(bad), Error) << missing;
  }
}

}  // namespace fewbit::codegen::trellis_quantizer_test
