#include "report/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace fewbit::solver {

void parallel_for(size_t count, const std::function<void(size_t)>& work,
                  const ProgressCall& progress) {
  std::vector<std::exception_ptr> failures(count);
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex reporting;
  size_t done = 0;
  const auto run = [&] {
    for (size_t i = next++; i < count && !failed; i = next++) {
      try {
        work(i);
      } catch (...) {
        failures[i] = std::current_exception();
        failed = true;
      }
      const std::lock_guard lock(reporting);
      ++done;
      if (progress) progress(done, count);
    }
  };
  const size_t cores = std::max(1U, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> threads;
    for (size_t i = 1; i < std::min(cores, count); ++i) threads.emplace_back(run);
    run();
  }
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace fewbit::solver
