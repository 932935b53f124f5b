#pragma once

#include <iostream>
#include <string>

#include "examples/support/page.hpp"

namespace fewbit::bench {

/// A sheet and what it means on the page, and the sheet on the terminal.
inline void show(examples::Page& page, const examples::Sheet& sheet, const std::string& meaning) {
  page.add(sheet);
  page.add(meaning);
  std::cout << examples::markdown(sheet) << std::flush;
}

}  // namespace fewbit::bench
