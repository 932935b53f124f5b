#include "tests/stand_in/device/counts.hpp"

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <mutex>

#include <c10/util/Backtrace.h>
#include <c10/util/Exception.h>

namespace fewbit::stand_in {

namespace {

std::mutex mutex;
Counts totals;
std::atomic<int> refusals = 0;

}  // namespace

Counts counts() {
  const std::lock_guard lock(mutex);
  return totals;
}

void reset_counts() {
  const std::lock_guard lock(mutex);
  totals = {};
}

void count_wait(const std::string& cause) {
  {
    const std::lock_guard lock(mutex);
    ++totals.waits;
    ++totals.waits_by_cause[cause];
  }
  if (std::getenv("FEWBIT_STAND_IN_WAITS") != nullptr) {
    std::cerr << "the host waits: " << cause << '\n' << c10::get_backtrace() << '\n';
  }
  TORCH_CHECK(refusals == 0, "stand_in: the host waits for a device: ", cause);
}

void count_copy_to_device(int64_t bytes) {
  const std::lock_guard lock(mutex);
  ++totals.copies_to_device;
  totals.bytes_to_device += bytes;
}

void count_copy_to_host(int64_t bytes) {
  const std::lock_guard lock(mutex);
  ++totals.copies_to_host;
  totals.bytes_to_host += bytes;
}

void count_copy_within(int64_t bytes) {
  const std::lock_guard lock(mutex);
  ++totals.copies_within;
  totals.bytes_within += bytes;
}

void count_allocation(int64_t bytes) {
  const std::lock_guard lock(mutex);
  ++totals.allocations;
  totals.bytes_allocated += bytes;
}

void count_launch() {
  const std::lock_guard lock(mutex);
  ++totals.launches;
}

void count_operation(const std::string& name, int64_t bytes) {
  const std::lock_guard lock(mutex);
  ++totals.operations;
  totals.bytes_of_operations += bytes;
  ++totals.calls[name];
}

NoWaiting::NoWaiting() {
  ++refusals;
}

NoWaiting::~NoWaiting() {
  --refusals;
}

}  // namespace fewbit::stand_in
