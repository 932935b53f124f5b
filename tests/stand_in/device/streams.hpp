#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

/// The stand-in's devices and their streams. What a stream is given runs late: when somebody waits
/// for it, or when chance lets it. Streams overtake one another unless events order them.
namespace fewbit::stand_in {

inline constexpr c10::DeviceIndex kDevices = 2;

using Work = std::function<void()>;

/// Of everything here, memory included; held while a device works.
std::recursive_mutex& machine();

/// The calling thread's.
c10::DeviceIndex current_device();
void set_current_device(c10::DeviceIndex device);
c10::Stream current_stream(c10::DeviceIndex device);
c10::Stream exchange_stream(c10::Stream stream);

c10::Stream default_stream(c10::DeviceIndex device);
/// Others in turn.
c10::Stream pool_stream(c10::DeviceIndex device);

/// A place in what a stream is given, for an event.
class Mark;
using MarkPointer = std::shared_ptr<Mark>;

/// What streams are given while they are captured: it runs when the graph does, as often as one
/// likes. Like CUDA's: nobody may wait for such a stream, and one that waits for its events is
/// captured, too.
class Graph {
 public:
  Graph() = default;
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void begin(c10::Stream stream);
  void end();
  void run(c10::Stream stream) const;

 private:
  std::vector<Work> work_;
  friend struct Machine;
};

bool is_captured(c10::Stream stream);

void enqueue(c10::Stream stream, Work work);
MarkPointer mark(c10::Stream stream);
/// What the stream is given from now on runs after the mark.
void wait_for(c10::Stream stream, const MarkPointer& mark);

bool has_passed(const MarkPointer& mark);
/// Runs what has to be run before; not counted as a wait.
void finish(const MarkPointer& mark);
void finish(c10::Stream stream);
void finish_device(c10::DeviceIndex device);
/// Something, perhaps; so that who polls gets on.
void run_some();

/// The order in which streams run: 0 is as late as possible, others are random, odd ones with the
/// default streams late.
void set_order(uint64_t seed);

}  // namespace fewbit::stand_in
