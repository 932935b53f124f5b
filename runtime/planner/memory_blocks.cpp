#include "planner/memory_blocks.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace fewbit::session {

namespace {

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// "encoder.layers.0" of "encoder.layers.0.linear1"; empty where there is no number.
std::string block_of(const std::string& module) {
  size_t begin = 0;
  while (begin < module.size()) {
    const size_t end = std::min(module.find('.', begin), module.size());
    if (is_number(std::string_view(module).substr(begin, end - begin)))
      return module.substr(0, end);
    begin = end + 1;
  }
  return "";
}

/// Of every moment. Those that know no module are of the block that those around them agree on, or
/// that comes first.
std::vector<std::string> names_of(const std::vector<MemoryPlan::Site>& sites,
                                  const std::vector<BlockMoment>& moments) {
  std::vector<std::string> names;
  size_t unknown = 0;  ///< from here on
  for (const BlockMoment& moment : moments) {
    const std::string& module = sites[moment.site].site.module;
    names.push_back(block_of(module));
    if (module.empty()) continue;
    const std::string& name = names.back();
    if (unknown == 0 || names[unknown - 1] == name) {
      std::fill(names.begin() + static_cast<std::ptrdiff_t>(unknown), names.end(), name);
    }
    unknown = names.size();
  }
  return names;
}

}  // namespace

std::vector<Block> blocks_of(const std::vector<MemoryPlan::Site>& sites,
                             const std::vector<BlockMoment>& moments, double forward_seconds) {
  const std::vector<std::string> names = names_of(sites, moments);
  std::vector<Block> blocks;
  std::map<std::string, int> runs;
  for (size_t begin = 0, end = 0; begin < names.size(); begin = end) {
    Block block;
    block.module = names[begin];
    for (end = begin; end < names.size() && names[end] == names[begin]; ++end) {
      const size_t site = moments[end].site;
      // What follows the last one may be another module's.
      if (end > begin) block.left_bytes += moments[end - 1].left_bytes;
      if (std::ranges::find(block.sites, site) == block.sites.end()) {
        block.sites.push_back(site);
      }
    }
    const double until = end < names.size() ? moments[end].seconds : forward_seconds;
    block.seconds = until - moments[begin].seconds;
    ++runs[block.module];
    if (!block.module.empty() && block.sites.size() > 1) blocks.push_back(std::move(block));
  }
  std::erase_if(blocks, [&](const Block& block) { return runs[block.module] > 1; });
  return blocks;
}

}  // namespace fewbit::session
