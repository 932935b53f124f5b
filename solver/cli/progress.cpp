#include "cli/progress.hpp"

#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/output.hpp"

namespace fewbit::solver {

using namespace std::chrono_literals;

Progress::Progress(std::string verb)
    : verb_(std::move(verb)),
      start_(std::chrono::steady_clock::now()),
      shows_(!is_quiet() && ::isatty(STDERR_FILENO) == 1) {
  if (!shows_) return;
  painter_ = std::jthread([this](const std::stop_token& stop) { paint_until(stop); });
}

Progress::~Progress() {
  if (!shows_) return;
  painter_.request_stop();
  painter_.join();
  if (shown_) std::fputs("\r\033[K", stderr);
}

void Progress::operator()(size_t done, size_t total) {
  const std::lock_guard lock(mutex_);
  count_ = fmt::format("{} of {}", done, total);
}

void Progress::detail(std::string text) {
  const std::lock_guard lock(mutex_);
  detail_ = std::move(text);
}

void Progress::paint_until(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  auto due = start_ + 1s;
  const auto is_stopped = [&] { return stop.stop_requested(); };
  while (!stopped_.wait_until(lock, stop, due, is_stopped)) {
    paint();
    due += 200ms;
  }
}

void Progress::paint() {
  if (count_.empty()) return;
  shown_ = true;
  const auto seconds =
      std::chrono::floor<std::chrono::seconds>(std::chrono::steady_clock::now() - start_);
  const std::string more = detail_.empty() ? "" : ", " + detail_;
  std::fputs(fmt::format("\r{} {}{} ({} s)\033[K", verb_, count_, more, seconds.count()).c_str(),
             stderr);
  std::fflush(stderr);
}

}  // namespace fewbit::solver
