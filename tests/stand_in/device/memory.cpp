#include "tests/stand_in/device/memory.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <c10/util/Exception.h>
#include <sys/mman.h>

#include "tests/stand_in/device/counts.hpp"
#include "tests/stand_in/device/streams.hpp"

namespace fewbit::stand_in {

namespace {

constexpr size_t kArena = size_t{1} << 33;     // addresses alone
constexpr size_t kHugePage = size_t{1} << 21;  // of few pages access is changed quickly
constexpr size_t kUnit = 512;
constexpr size_t kFence = 64;  // behind each block, at least

struct Block {
  std::byte* at;
  size_t asked;
  size_t size;
  c10::Stream stream;
  std::vector<c10::Stream> users;
  bool is_of_graph = false;  ///< for good: nobody tells when the graph runs for the last time
};

struct FreedBlock {
  Block block;
  std::vector<MarkPointer> marks;
};

class DeviceMemory {
 public:
  void* allocate(size_t bytes, c10::Stream stream) {
    take_back();
    const size_t size = (bytes + kFence + kUnit - 1) / kUnit * kUnit;
    const bool is_of_graph = is_captured(stream);
    auto& free = free_[{stream.id(), size}];
    std::byte* at = nullptr;
    if (free.empty() || is_of_graph) {
      at = fresh(size);
      enqueue(stream, [=] { std::memset(at, kPoison, size); });
    } else {
      at = free.back();
      free.pop_back();
    }
    blocks_.emplace(at, Block{at, bytes, size, stream, {}, is_of_graph});
    in_use_ += static_cast<int64_t>(bytes);
    return at;
  }

  int64_t free(void* at) {
    const auto found = blocks_.find(static_cast<std::byte*>(at));
    TORCH_INTERNAL_ASSERT(found != blocks_.end());
    FreedBlock freed{std::move(found->second), {}};
    blocks_.erase(found);
    const auto bytes = static_cast<int64_t>(freed.block.asked);
    if (freed.block.is_of_graph) {
      in_use_ -= bytes;
      return bytes;
    }
    for (const c10::Stream& user : freed.block.users) freed.marks.push_back(mark(user));
    freed_.push_back(std::move(freed));
    take_back();
    return bytes;
  }

  void record(const void* at, c10::Stream stream) {
    const auto found = blocks_.find(static_cast<std::byte*>(const_cast<void*>(at)));
    if (found == blocks_.end() || found->second.stream == stream) return;
    auto& users = found->second.users;
    if (std::ranges::find(users, stream) == users.end()) users.push_back(stream);
  }

  int64_t in_use() const { return in_use_; }

  void protect(bool is_accessible) {
    is_accessible_ = is_accessible;
    if (used_ == 0) return;
    const int protection = is_accessible ? PROT_READ | PROT_WRITE : PROT_NONE;
    const size_t pages = (used_ + kHugePage - 1) / kHugePage * kHugePage;
    TORCH_CHECK(mprotect(arena_, pages, protection) == 0, "stand_in: mprotect");
  }

 private:
  std::byte* fresh(size_t size) {
    if (arena_ == nullptr) {
      void* const arena = mmap(nullptr, kArena + kHugePage, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      TORCH_CHECK(arena != MAP_FAILED, "stand_in: mmap");
      const auto address = reinterpret_cast<uintptr_t>(arena);
      arena_ = static_cast<std::byte*>(arena) + (kHugePage - address % kHugePage) % kHugePage;
      madvise(arena_, kArena, MADV_HUGEPAGE);
    }
    TORCH_CHECK(used_ + size <= kArena, "stand_in: out of memory");
    std::byte* const at = arena_ + used_;
    used_ += size;
    if (is_accessible_) protect(true);
    return at;
  }

  /// Blocks that no stream uses any more.
  void take_back() {
    std::erase_if(freed_, [&](const FreedBlock& freed) {
      const Block& block = freed.block;
      if (is_captured(block.stream) || !std::ranges::all_of(freed.marks, has_passed)) return false;
      enqueue(block.stream, [at = block.at, asked = block.asked, size = block.size] {
        const bool is_whole = std::all_of(at + asked, at + size,
                                          [](std::byte one) { return one == std::byte{kPoison}; });
        std::memset(at, kPoison, size);
        TORCH_CHECK(is_whole, "stand_in: something was written behind a block of ", asked,
                    " bytes");
      });
      free_[{block.stream.id(), block.size}].push_back(block.at);
      in_use_ -= static_cast<int64_t>(block.asked);
      return true;
    });
  }

  std::byte* arena_ = nullptr;
  size_t used_ = 0;
  bool is_accessible_ = false;
  int64_t in_use_ = 0;
  std::map<std::byte*, Block> blocks_;
  std::map<std::pair<c10::StreamId, size_t>, std::vector<std::byte*>> free_;
  std::vector<FreedBlock> freed_;
};

struct AllMemory {
  std::array<DeviceMemory, kDevices> devices;
  std::map<std::byte*, size_t> pinned;
  int accesses = 0;

  DeviceMemory& of(c10::DeviceIndex device) { return devices.at(static_cast<size_t>(device)); }
};

AllMemory& memory() {
  static auto* const all = new AllMemory;
  return *all;
}

/// What a pointer of the allocator's brings along.
struct Owner {
  void* at;
  c10::DeviceIndex device;
};

void free_block(void* context) {
  const auto* const owner = static_cast<Owner*>(context);
  {
    const std::lock_guard lock(machine());
    DeviceMemory& of_device = memory().of(owner->device);
    const int64_t bytes = of_device.free(owner->at);
    const auto in_use = static_cast<size_t>(of_device.in_use());
    c10::reportMemoryUsageToProfiler(owner->at, -bytes, in_use, in_use,
                                     c10::Device(c10::kPrivateUse1, owner->device));
  }
  delete owner;
}

class DeviceAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    const c10::DeviceIndex index = current_device();
    const c10::Device device(c10::kPrivateUse1, index);
    if (bytes == 0) return {nullptr, device};
    const std::lock_guard lock(machine());
    DeviceMemory& of_device = memory().of(index);
    void* const at = of_device.allocate(bytes, current_stream(index));
    const auto in_use = static_cast<size_t>(of_device.in_use());
    count_allocation(static_cast<int64_t>(bytes));
    c10::reportMemoryUsageToProfiler(at, static_cast<int64_t>(bytes), in_use, in_use, device);
    return {at, new Owner{at, index}, free_block, device};
  }

  void copy_data(void* to, const void* from, size_t bytes) const override {
    enqueue(current_stream(-1), [=] { std::memcpy(to, from, bytes); });
  }
};

void free_pinned(void* at) {
  {
    const std::lock_guard lock(machine());
    memory().pinned.erase(static_cast<std::byte*>(at));
  }
  std::free(at);
}

class PinnedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    const size_t size = std::max<size_t>((bytes + kUnit - 1) / kUnit * kUnit, kUnit);
    void* const at = std::aligned_alloc(kUnit, size);
    std::memset(at, kPoison, size);
    const std::lock_guard lock(machine());
    memory().pinned.emplace(static_cast<std::byte*>(at), size);
    return {at, at, free_pinned, c10::Device(c10::kCPU)};
  }

  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

}  // namespace

Access::Access() {
  machine().lock();
  if (memory().accesses++ > 0) return;
  for (DeviceMemory& device : memory().devices) device.protect(true);
}

Access::~Access() {
  if (--memory().accesses == 0) {
    for (DeviceMemory& device : memory().devices) device.protect(false);
  }
  machine().unlock();
}

c10::Allocator& device_allocator() {
  static auto* const allocator = new DeviceAllocator;
  return *allocator;
}

c10::Allocator& pinned_allocator() {
  static auto* const allocator = new PinnedAllocator;
  return *allocator;
}

bool is_pinned(const void* at) {
  const std::lock_guard lock(machine());
  auto* const address = static_cast<std::byte*>(const_cast<void*>(at));
  const auto after = memory().pinned.upper_bound(address);
  if (after == memory().pinned.begin()) return false;
  const auto& [begin, size] = *std::prev(after);
  return address < begin + size;
}

void record_stream(const c10::DataPtr& data, c10::Stream stream) {
  if (data.get() == nullptr || data.get_deleter() != free_block) return;
  const std::lock_guard lock(machine());
  const auto* const owner = static_cast<const Owner*>(data.get_context());
  memory().of(owner->device).record(owner->at, stream);
}

int64_t bytes_in_use(c10::DeviceIndex device) {
  const std::lock_guard lock(machine());
  return memory().of(device).in_use();
}

}  // namespace fewbit::stand_in
