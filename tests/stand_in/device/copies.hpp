#pragma once

#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

/// Between the memory of the host and of devices.
namespace fewbit::stand_in {

/// The elements in memory of the host, strides alike; what the current stream of its device was
/// given so far runs before. Neither counted nor a wait: an operation reads what it computes with.
at::Tensor read(const at::Tensor& on_device);

/// The current stream of the device writes the elements, late.
void write(const at::Tensor& on_device, const at::Tensor& elements);

/// A new tensor on the device with those elements and strides, that its current stream writes.
at::Tensor written(const at::Tensor& elements, c10::Device device);

/// Elements in memory, whoever owns it then: for work that runs later.
class DeviceElements {
 public:
  explicit DeviceElements(const at::Tensor& tensor);

  /// As `read` and `write`, within the work.
  at::Tensor copied() const;
  void fill(const at::Tensor& elements) const;
  /// Of other types or strides too.
  void take(const DeviceElements& from) const;

 private:
  void* at_;
  std::vector<int64_t> sizes_;
  std::vector<int64_t> strides_;
  at::ScalarType type_;
};

/// Torch's copy_ of which at least one tensor is on a device.
void transfer(const at::Tensor& to, const at::Tensor& from, bool non_blocking);

at::Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides, at::ScalarType type,
                         c10::Device device);

/// Sizes and strides in memory that is large enough, with the elements that were in it.
void resize(const at::Tensor& on_device, c10::IntArrayRef sizes, c10::IntArrayRef strides);

}  // namespace fewbit::stand_in
