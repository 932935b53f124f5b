#include "cli/progress.hpp"

#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/output.hpp"

namespace fewbit::solver {

Progress::Progress(std::string verb)
    : verb_(std::move(verb)),
      start_(std::chrono::steady_clock::now()),
      shows_(!is_quiet() && ::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void Progress::operator()(size_t done, size_t total) {
  if (!shows_) return;
  if (std::chrono::steady_clock::now() - start_ < std::chrono::seconds(1)) return;
  shown_ = true;
  std::fputs(fmt::format("\r{} {} of {}\033[K", verb_, done, total).c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace fewbit::solver
