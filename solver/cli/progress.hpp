#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace fewbit::solver {

/// One line on standard error that rewrites itself, with the seconds so far: only on a terminal,
/// only from the first second on, gone when the work is done, and never with --quiet. Calls may
/// come from any thread.
class Progress {
 public:
  /// `verb`: "solving", "verifying".
  explicit Progress(std::string verb);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void operator()(size_t done, size_t total);
  /// What there is to say of the work beside its count.
  void detail(std::string text);

 private:
  void paint_until(const std::stop_token& stop);
  void paint();

  std::string verb_;
  std::chrono::steady_clock::time_point start_;
  bool shows_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::string count_;  ///< "2 of 5"; empty: nothing is known yet
  std::string detail_;
  bool shown_ = false;
  std::jthread painter_;
};

}  // namespace fewbit::solver
