#pragma once

#include <cstdint>
#include <map>
#include <string>

/// What the stand-in's devices were asked for.
namespace fewbit::stand_in {

struct Counts {
  int64_t waits = 0;  ///< of the host for a device
  int64_t copies_to_device = 0;
  int64_t bytes_to_device = 0;
  int64_t copies_to_host = 0;
  int64_t bytes_to_host = 0;
  int64_t copies_within = 0;  ///< on one device or between two
  int64_t bytes_within = 0;
  int64_t allocations = 0;
  int64_t bytes_allocated = 0;
  int64_t launches = 0;             ///< of our kernels
  int64_t operations = 0;           ///< of torch's that compute
  int64_t bytes_of_operations = 0;  ///< that these read and write
  std::map<std::string, int64_t> waits_by_cause;
  std::map<std::string, int64_t> calls;  ///< of torch's operations that compute, by name
};

/// Since the last reset.
Counts counts();
void reset_counts();

/// Called in whatever makes the host wait, before it waits.
void count_wait(const std::string& cause);
void count_copy_to_device(int64_t bytes);
void count_copy_to_host(int64_t bytes);
void count_copy_within(int64_t bytes);
void count_allocation(int64_t bytes);
void count_launch();
void count_operation(const std::string& name, int64_t bytes);

/// For its life every wait of the host throws, in all threads.
class NoWaiting {
 public:
  NoWaiting();
  ~NoWaiting();
  NoWaiting(const NoWaiting&) = delete;
  NoWaiting& operator=(const NoWaiting&) = delete;
};

}  // namespace fewbit::stand_in
