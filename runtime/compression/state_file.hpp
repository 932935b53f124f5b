#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compression/site_table.hpp"

namespace fewbit::session {

/// What a file of a Compressor holds: docs/files.md.
struct SavedState {
  uint64_t forwards = 0;
  bool has_changed = false;
  std::vector<SiteState> sites = {};
};

std::string text_of(const SiteTable& sites, uint64_t forwards);

/// Whole or not at all. Throws c10::Error that says "save", the path and why.
void write_state(const std::string& path, const std::string& text);

/// Throws c10::Error that says "load", the path and what is wrong.
SavedState read_state(const std::string& path, const Coder& coder);

}  // namespace fewbit::session
