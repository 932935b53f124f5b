#include "tests/stand_in/device/streams.hpp"

#include <array>
#include <deque>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <c10/util/Exception.h>

#include "tests/stand_in/device/memory.hpp"

namespace fewbit::stand_in {

/// One of the three.
struct QueuedItem {
  Work work;
  MarkPointer awaited;
  MarkPointer passed;
};

using Queue = std::deque<QueuedItem>;

class Mark {
 public:
  explicit Mark(Queue& of) : queue(&of) {}

  Queue* const queue;
  bool is_passed = false;
  bool is_of_graph = false;
};

namespace {

constexpr int kStreams = 8;  // of a device, the default one among them

}  // namespace

struct Machine {
  std::recursive_mutex mutex;
  std::array<std::array<Queue, kStreams>, kDevices> queues;
  std::array<int, kDevices> last_given{};
  std::mt19937_64 random{1};
  bool is_late = false;
  bool favours_others = false;  ///< than the default streams, which are late then
  Graph* graph = nullptr;       ///< that streams are captured into
  std::set<const Queue*> captured;

  Queue& of(c10::Stream stream) {
    TORCH_CHECK(stream.device_type() == c10::kPrivateUse1, "stand_in: a stream of ",
                stream.device());
    return queues.at(static_cast<size_t>(stream.device_index()))
        .at(static_cast<size_t>(stream.id()));
  }

  /// The first that was given, after what it waits for.
  void run_one(Queue& queue) {
    const QueuedItem item = std::move(queue.front());
    queue.pop_front();
    while (item.awaited && !item.awaited->is_passed) run_one(*item.awaited->queue);
    if (item.work) item.work();
    if (item.passed) item.passed->is_passed = true;
  }

  void run_by_chance() {
    while (!is_late && random() % 3 == 0) {
      std::vector<Queue*> filled;
      for (auto& of_device : queues) {
        for (Queue& queue : of_device) {
          const bool is_default = &queue == of_device.data();
          if (!queue.empty() && !(is_default && favours_others)) filled.push_back(&queue);
        }
      }
      if (filled.empty()) return;
      const Access access;
      run_one(*filled[random() % filled.size()]);
    }
  }

  void give(Queue& queue, Work work) {
    if (captured.contains(&queue)) {
      graph->work_.push_back(std::move(work));
      return;
    }
    queue.push_back({std::move(work), nullptr, nullptr});
    run_by_chance();
  }

  void run_until(const Mark& mark) {
    TORCH_CHECK(!mark.is_of_graph, "stand_in: waits for a stream that is captured");
    while (!mark.is_passed) {
      run_by_chance();
      if (!mark.is_passed) run_one(*mark.queue);
    }
  }
};

namespace {

Machine& the_machine() {
  static auto* const machine = new Machine;  // outlives whatever static objects give back
  return *machine;
}

struct ThreadState {
  c10::DeviceIndex device = 0;
  std::array<c10::StreamId, kDevices> streams{};
};

thread_local ThreadState thread;

c10::Stream stream_of(c10::DeviceIndex device, c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(c10::kPrivateUse1, device), id);
}

c10::DeviceIndex index_of(c10::DeviceIndex device) {
  return device < 0 ? thread.device : device;
}

}  // namespace

std::recursive_mutex& machine() {
  return the_machine().mutex;
}

c10::DeviceIndex current_device() {
  return thread.device;
}

void set_current_device(c10::DeviceIndex device) {
  TORCH_CHECK(device >= 0 && device < kDevices, "stand_in: device ", static_cast<int>(device),
              ", accepted: below ", static_cast<int>(kDevices));
  thread.device = device;
}

c10::Stream current_stream(c10::DeviceIndex device) {
  device = index_of(device);
  return stream_of(device, thread.streams.at(static_cast<size_t>(device)));
}

c10::Stream exchange_stream(c10::Stream stream) {
  const c10::DeviceIndex device = stream.device_index();
  const c10::Stream before = current_stream(device);
  thread.streams.at(static_cast<size_t>(device)) = stream.id();
  return before;
}

c10::Stream default_stream(c10::DeviceIndex device) {
  return stream_of(index_of(device), 0);
}

c10::Stream pool_stream(c10::DeviceIndex device) {
  device = index_of(device);
  const std::lock_guard lock(machine());
  int& last = the_machine().last_given.at(static_cast<size_t>(device));
  last = last % (kStreams - 1) + 1;
  return stream_of(device, last);
}

void enqueue(c10::Stream stream, Work work) {
  const std::lock_guard lock(machine());
  the_machine().give(the_machine().of(stream), std::move(work));
}

MarkPointer mark(c10::Stream stream) {
  const std::lock_guard lock(machine());
  Queue& queue = the_machine().of(stream);
  auto result = std::make_shared<Mark>(queue);
  if (the_machine().captured.contains(&queue)) {
    result->is_of_graph = true;
  } else if (queue.empty()) {
    result->is_passed = true;
  } else {
    queue.push_back({nullptr, nullptr, result});
  }
  return result;
}

void wait_for(c10::Stream stream, const MarkPointer& mark) {
  const std::lock_guard lock(machine());
  Queue& queue = the_machine().of(stream);
  if (mark->is_of_graph) {
    the_machine().captured.insert(&queue);
  } else if (!mark->is_passed) {
    TORCH_CHECK(!the_machine().captured.contains(&queue),
                "stand_in: a captured stream waits for one that is not");
    queue.push_back({nullptr, mark, nullptr});
  }
}

Graph::~Graph() {
  const std::lock_guard lock(machine());
  if (the_machine().graph == this) end();
}

void Graph::begin(c10::Stream stream) {
  const std::lock_guard lock(machine());
  Machine& machine = the_machine();
  TORCH_CHECK(machine.graph == nullptr, "stand_in: two graphs are captured");
  machine.graph = this;
  machine.captured = {&machine.of(stream)};
}

void Graph::end() {
  const std::lock_guard lock(machine());
  the_machine().graph = nullptr;
  the_machine().captured.clear();
}

void Graph::run(c10::Stream stream) const {
  for (const Work& work : work_) enqueue(stream, work);
}

bool is_captured(c10::Stream stream) {
  const std::lock_guard lock(machine());
  return the_machine().captured.contains(&the_machine().of(stream));
}

bool has_passed(const MarkPointer& mark) {
  const std::lock_guard lock(machine());
  return mark->is_passed;
}

void finish(const MarkPointer& mark) {
  const std::lock_guard lock(machine());
  const Access access;
  the_machine().run_until(*mark);
}

void finish(c10::Stream stream) {
  finish(mark(stream));
}

void finish_device(c10::DeviceIndex device) {
  device = index_of(device);
  for (c10::StreamId id = 0; id < kStreams; ++id) finish(stream_of(device, id));
}

void run_some() {
  const std::lock_guard lock(machine());
  const Access access;
  for (auto& queues : the_machine().queues) {
    for (Queue& queue : queues) {
      if (!queue.empty()) return the_machine().run_one(queue);
    }
  }
}

void set_order(uint64_t seed) {
  const std::lock_guard lock(machine());
  the_machine().is_late = seed == 0;
  the_machine().favours_others = seed % 2 == 1;
  the_machine().random.seed(seed);
}

}  // namespace fewbit::stand_in
