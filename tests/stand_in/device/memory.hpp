#pragma once

#include <cstdint>

#include <c10/core/Allocator.h>
#include <c10/core/Stream.h>

/// The stand-in's memory. Host code that touches a device's faults. Freed memory is given out again
/// at once to the stream that had it, as torch's caching allocator does, and loses its contents.
namespace fewbit::stand_in {

/// While there is one, this process may touch the memory of devices: they work now.
class Access {
 public:
  Access();
  ~Access();
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;
};

/// Of the current device, for its current stream.
c10::Allocator& device_allocator();

/// Host memory that devices copy from and to by themselves.
c10::Allocator& pinned_allocator();
bool is_pinned(const void* at);

/// The memory is given to others only after what that stream has been given so far.
void record_stream(const c10::DataPtr& memory, c10::Stream stream);

/// Of a device, those of streams that still use freed memory among them.
int64_t bytes_in_use(c10::DeviceIndex device);

/// What memory holds that nothing was written to: NaN in every floating-point type.
inline constexpr int kPoison = 0xFF;

}  // namespace fewbit::stand_in
