// What torch's allocator is asked for.
#include "offload/expandable_segments.hpp"

#include <gtest/gtest.h>

namespace fewbit::offload::expandable_segments_test {

TEST(ExpandableSegments, JoinWhatThePersonHasSet) {
  EXPECT_EQ(with_expandable_segments(""), "expandable_segments:True");
  EXPECT_EQ(with_expandable_segments("max_split_size_mb:64"),
            "max_split_size_mb:64,expandable_segments:True");
  EXPECT_EQ(with_expandable_segments("expandable_segments:False"), "expandable_segments:False");
}

}  // namespace fewbit::offload::expandable_segments_test
