#include "tests/stand_in/device/copies.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <ATen/EmptyTensor.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/clone.h>
#include <ATen/ops/from_blob.h>
#include <ATen/record_function.h>
#include <c10/core/DeviceGuard.h>

#include "tests/stand_in/device/counts.hpp"
#include "tests/stand_in/device/memory.hpp"
#include "tests/stand_in/device/streams.hpp"

namespace fewbit::stand_in {

namespace {

at::Tensor seen(void* at, c10::IntArrayRef sizes, c10::IntArrayRef strides, at::ScalarType type) {
  return at::from_blob(at, sizes, strides, at::TensorOptions(type));
}

size_t extent(const at::Tensor& tensor) {
  return at::detail::computeStorageNbytes(tensor.sizes(), tensor.strides(), tensor.itemsize());
}

c10::Stream stream_of(const at::Tensor& tensor) {
  return current_stream(tensor.device().index());
}

/// `host` lives until it was copied from or to.
void enqueue_copy(c10::Stream stream, const at::Tensor& to, const at::Tensor& from,
                  const at::Tensor& host) {
  if (from.numel() == 0 || to.numel() == 0) return;
  enqueue(stream, [to = DeviceElements(to), from = DeviceElements(from), host] { to.take(from); });
}

void copy_to_device(const at::Tensor& to, const at::Tensor& from, bool non_blocking) {
  count_copy_to_device(static_cast<int64_t>(from.nbytes()));
  const bool stays = is_pinned(from.const_data_ptr()) || !non_blocking;
  const at::Tensor host = stays ? from : from.clone();
  enqueue_copy(stream_of(to), to, host, host);
  if (non_blocking) return;
  count_wait("a copy to a device");
  finish(stream_of(to));
}

void copy_to_host(const at::Tensor& to, const at::Tensor& from, bool non_blocking) {
  count_copy_to_host(static_cast<int64_t>(from.nbytes()));
  enqueue_copy(stream_of(from), to, from, to);
  if (non_blocking && is_pinned(to.const_data_ptr())) return;
  count_wait("a copy to the host");
  finish(stream_of(from));
}

/// On the stream of the one that is read; either device's waits for the other's.
void copy_within(const at::Tensor& to, const at::Tensor& from) {
  count_copy_within(static_cast<int64_t>(from.nbytes()));
  const bool is_one_device = to.device() == from.device();
  if (!is_one_device) wait_for(stream_of(from), mark(stream_of(to)));
  enqueue_copy(stream_of(from), to, from, {});
  if (!is_one_device) wait_for(stream_of(to), mark(stream_of(from)));
}

}  // namespace

DeviceElements::DeviceElements(const at::Tensor& tensor)
    : at_(const_cast<void*>(tensor.const_data_ptr())),
      sizes_(tensor.sizes().vec()),
      strides_(tensor.strides().vec()),
      type_(tensor.scalar_type()) {}

at::Tensor DeviceElements::copied() const {
  const at::AutoDispatchBelowADInplaceOrView below;
  const at::DisableRecordFunctionGuard unseen;
  const at::Tensor result = at::detail::empty_strided_cpu(sizes_, strides_, type_);
  if (result.numel() > 0) std::memcpy(result.mutable_data_ptr(), at_, extent(result));
  return result;
}

void DeviceElements::fill(const at::Tensor& elements) const {
  const at::AutoDispatchBelowADInplaceOrView below;
  const at::DisableRecordFunctionGuard unseen;
  TORCH_CHECK(elements.sizes() == c10::IntArrayRef(sizes_), "stand_in: elements of sizes ",
              elements.sizes(), " for memory of ", c10::IntArrayRef(sizes_));
  if (elements.numel() > 0) seen(at_, sizes_, strides_, type_).copy_(elements);
}

void DeviceElements::take(const DeviceElements& from) const {
  const at::AutoDispatchBelowADInplaceOrView below;
  const at::DisableRecordFunctionGuard unseen;
  seen(at_, sizes_, strides_, type_).copy_(seen(from.at_, from.sizes_, from.strides_, from.type_));
}

at::Tensor read(const at::Tensor& on_device) {
  const at::AutoDispatchBelowADInplaceOrView below;
  const at::Tensor result = at::detail::empty_strided_cpu(on_device.sizes(), on_device.strides(),
                                                          on_device.scalar_type());
  if (on_device.numel() == 0) return result;
  const Access access;
  finish(stream_of(on_device));
  std::memcpy(result.mutable_data_ptr(), on_device.const_data_ptr(), extent(on_device));
  return result;
}

void write(const at::Tensor& on_device, const at::Tensor& elements) {
  enqueue_copy(stream_of(on_device), on_device, elements, elements);
}

at::Tensor written(const at::Tensor& elements, c10::Device device) {
  const at::Tensor result =
      empty_strided(elements.sizes(), elements.strides(), elements.scalar_type(), device);
  write(result, elements);
  return result;
}

void transfer(const at::Tensor& to, const at::Tensor& from, bool non_blocking) {
  if (from.is_cpu()) {
    copy_to_device(to, from, non_blocking);
  } else if (to.is_cpu()) {
    copy_to_host(to, from, non_blocking);
  } else {
    copy_within(to, from);
  }
}

at::Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides, at::ScalarType type,
                         c10::Device device) {
  const c10::DeviceGuard guard(device);
  return at::detail::empty_strided_generic(sizes, strides, &device_allocator(),
                                           c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                           type);
}

void resize(const at::Tensor& on_device, c10::IntArrayRef sizes, c10::IntArrayRef strides) {
  const c10::DeviceGuard guard(on_device.device());
  auto* const tensor = on_device.unsafeGetTensorImpl();
  const size_t bytes = at::detail::computeStorageNbytes(
      sizes, strides, on_device.itemsize(), static_cast<size_t>(on_device.storage_offset()));
  auto* const storage = on_device.storage().unsafeGetStorageImpl();
  if (bytes > storage->nbytes()) {
    c10::DataPtr memory = device_allocator().allocate(bytes);
    if (storage->nbytes() > 0) {
      enqueue(stream_of(on_device), [to = memory.get(), from = storage->data(),
                                     count = storage->nbytes()] { std::memcpy(to, from, count); });
    }
    storage->set_data_ptr_noswap(std::move(memory));
    storage->set_nbytes(bytes);
  }
  tensor->set_sizes_and_strides(sizes, strides);
}

}  // namespace fewbit::stand_in
