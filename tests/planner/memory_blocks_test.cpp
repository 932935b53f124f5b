// Which sites are of one module, by what is saved in which order.
#include "planner/memory_blocks.hpp"

#include <gtest/gtest.h>

namespace fewbit::session::memory_blocks_test {

/// "layers.0: 0 1, 3.0 s" a line.
std::string blocks(const std::vector<std::string>& modules, const std::vector<size_t>& order) {
  std::vector<MemoryPlan::Site> sites(modules.size());
  for (size_t i = 0; i < modules.size(); ++i) sites[i].site.module = modules[i];
  std::vector<BlockMoment> moments;
  for (size_t i = 0; i < order.size(); ++i) moments.push_back({order[i], static_cast<double>(i)});
  std::string text;
  for (const Block& block : blocks_of(sites, moments, static_cast<double>(order.size()))) {
    text += block.module + ':';
    for (const size_t place : block.sites) text += ' ' + std::to_string(place);
    text += ", " + std::to_string(static_cast<int>(block.seconds)) + " s\n";
  }
  return text;
}

TEST(MemoryBlocks, EndAtTheFirstNumberOfAName) {
  EXPECT_EQ(blocks({"a.layers.0.fc.1", "a.layers.0.norm", "a.layers.1", "a.layers.1", "head"},
                   {0, 1, 2, 3, 4}),
            "a.layers.0: 0 1, 2 s\na.layers.1: 2 3, 2 s\n");
  EXPECT_EQ(blocks({"conv1", "layer1", "0a.1b", "x.2y"}, {0, 1, 2, 3}), "");
  EXPECT_EQ(blocks({"0", "0"}, {0, 1}), "0: 0 1, 2 s\n");
}

TEST(MemoryBlocks, WhatKnowsNoModuleIsOfTheOneAroundIt) {
  EXPECT_EQ(blocks({"", "b.0.x", "", "", "b.0.y", "", "b.1.x", "", "b.1.x", ""},
                   {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}),
            "b.0: 0 1 2 3 4, 5 s\nb.1: 6 7 8, 3 s\n");
}

TEST(MemoryBlocks, OfOnePlaceOrInterruptedAreNone) {
  EXPECT_EQ(blocks({"b.0", "b.1", "b.1"}, {0, 1, 2}), "b.1: 1 2, 2 s\n");
  EXPECT_EQ(blocks({"b.0", "b.0", "b.1", "b.0", "b.0"}, {0, 1, 2, 3, 4}), "");
}

TEST(MemoryBlocks, FreeWhatNoPlaceKeepsToo) {
  std::vector<MemoryPlan::Site> sites(4);
  for (size_t i = 0; i < sites.size(); ++i) sites[i].site.module = i < 2 ? "b.0" : "b.1";
  const std::vector<Block> blocks =
      blocks_of(sites, {{0, 0.0, 1}, {1, 1.0, 2}, {2, 2.0, 4}, {3, 3.0, 8}}, 4.0);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].left_bytes, 1);
  EXPECT_EQ(blocks[1].left_bytes, 4);
}

TEST(MemoryBlocks, APlaceThatSavesTwiceIsNamedOnce) {
  EXPECT_EQ(blocks({"b.0", "b.0"}, {0, 1, 0}), "b.0: 0 1, 3 s\n");
  EXPECT_EQ(blocks({}, {}), "");
}

}  // namespace fewbit::session::memory_blocks_test
