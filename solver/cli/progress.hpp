#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace fewbit::solver {

/// One line on standard error that rewrites itself: only on a terminal, only from the first second
/// on, gone when the work is done, and never with --quiet. Calls come one at a time.
class Progress {
 public:
  /// `verb`: "solving", "verifying".
  explicit Progress(std::string verb);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void operator()(size_t done, size_t total);

 private:
  std::string verb_;
  std::chrono::steady_clock::time_point start_;
  bool shows_;
  bool shown_ = false;
};

}  // namespace fewbit::solver
