#pragma once

#include <fstream>
#include <string>

namespace fewbit::solver {

/// A binary stream of the file; throws Error (file, reason) where there is none to read.
std::ifstream open_file(const std::string& path);

}  // namespace fewbit::solver
