// What torch needs of a device of its own for tensors without elements: memory, views, copies.
#include <vector>

#include <ATen/EmptyTensor.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/is_set_to_native.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "tests/stand_in/device/copies.hpp"
#include "tests/stand_in/device/counts.hpp"
#include "tests/stand_in/device/fallback.hpp"
#include "tests/stand_in/device/memory.hpp"
#include "tests/stand_in/device/streams.hpp"

namespace fewbit::stand_in {

namespace {

using Sizes = c10::IntArrayRef;
template <class T>
using Maybe = std::optional<T>;

c10::Device device_of(Maybe<c10::Device> asked) {
  TORCH_CHECK(asked.has_value(), "stand_in: a tensor without a device");
  return asked->has_index() ? *asked : c10::Device(asked->type(), current_device());
}

at::Tensor empty(Sizes sizes, Maybe<at::ScalarType> type, Maybe<at::Layout>,
                 Maybe<c10::Device> asked, Maybe<bool>, Maybe<at::MemoryFormat> format) {
  const c10::DeviceGuard guard(device_of(asked));
  return at::detail::empty_generic(sizes, &device_allocator(),
                                   c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                   c10::dtype_or_default(type), format);
}

at::Tensor empty_with_strides(Sizes sizes, Sizes strides, Maybe<at::ScalarType> type,
                              Maybe<at::Layout>, Maybe<c10::Device> asked, Maybe<bool>) {
  return empty_strided(sizes, strides, c10::dtype_or_default(type), device_of(asked));
}

std::vector<int64_t> strides_of(Sizes sizes, at::MemoryFormat format) {
  if (format == at::MemoryFormat::ChannelsLast) return c10::get_channels_last_strides_2d(sizes);
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(sizes[i], 1);
  }
  return strides;
}

const at::Tensor& resize_(const at::Tensor& self, Sizes sizes, Maybe<at::MemoryFormat> format) {
  if (self.sizes() != sizes || format) {
    resize(self, sizes, strides_of(sizes, format.value_or(at::MemoryFormat::Contiguous)));
  }
  return self;
}

at::Tensor& set_storage(at::Tensor& self, at::Storage storage, int64_t offset, Sizes sizes,
                        Sizes strides) {
  auto* const tensor = self.unsafeGetTensorImpl();
  TORCH_CHECK(storage.device() == self.device(), "stand_in: storage of ", storage.device(),
              " for a tensor of ", self.device());
  tensor->set_storage_keep_dtype(std::move(storage));
  tensor->set_storage_offset(offset);
  const std::vector<int64_t> contiguous = strides_of(sizes, at::MemoryFormat::Contiguous);
  resize(self, sizes, strides.empty() && !sizes.empty() ? Sizes(contiguous) : strides);
  return self;
}

at::Tensor& set_whole_storage(at::Tensor& self, at::Storage storage) {
  const auto count = static_cast<int64_t>(storage.nbytes() / static_cast<size_t>(self.itemsize()));
  return set_storage(self, std::move(storage), 0, {count}, {1});
}

at::Tensor& set_tensor(at::Tensor& self, const at::Tensor& source) {
  return set_storage(self, source.storage(), source.storage_offset(), source.sizes(),
                     source.strides());
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  transfer(to, from, non_blocking);
  return to;
}

at::Scalar item(const at::Tensor& self) {
  count_copy_to_host(static_cast<int64_t>(self.nbytes()));
  count_wait("item");
  return read(self).item();
}

void record(at::Tensor& self, c10::Stream stream) {
  record_stream(self.storage().data_ptr(), stream);
}

/// x * factor * weight + what makes the mean the bias: as the CPU computes it, by its batch norm.
at::Tensor batch_norm_elemt(const at::Tensor& x, const Maybe<at::Tensor>& weight,
                            const Maybe<at::Tensor>& bias, const at::Tensor& mean,
                            const at::Tensor& factor, double) {
  count_operation("aten::batch_norm_elemt", 2 * static_cast<int64_t>(x.nbytes()));
  const auto elements = [](const Maybe<at::Tensor>& tensor) {
    return tensor ? Maybe<DeviceElements>(*tensor) : std::nullopt;
  };
  const at::Tensor result = empty_strided(x.sizes(), x.strides(), x.scalar_type(), x.device());
  enqueue(current_stream(x.device().index()),
          [to = DeviceElements(result), x = DeviceElements(x), weight = elements(weight),
           bias = elements(bias), mean = DeviceElements(mean), factor = DeviceElements(factor)] {
            const at::AutoDispatchBelowADInplaceOrView below;
            const at::Tensor center = mean.copied(), scale = factor.copied();
            const Maybe<at::Tensor> shift =
                bias ? Maybe<at::Tensor>(bias->copied().to(center.scalar_type())) : std::nullopt;
            to.fill(std::get<0>(
                at::native_batch_norm(x.copied(), weight ? scale.mul(weight->copied()) : scale,
                                      shift, center, at::ones_like(center), false, 0, 0)));
          });
  return result;
}

/// So that modules move in place.
bool can_be_replaced(const at::Tensor&, const at::Tensor&) {
  return true;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_with_strides);
  m.impl("as_strided", at::native::as_strided_tensorimpl);
  m.impl("view", at::native::view);
  m.impl("_reshape_alias", at::native::_reshape_alias);
  m.impl("unfold", at::native::unfold);
  m.impl("is_set_to", at::native::is_set_to);
  m.impl("resize_", resize_);
  m.impl("set_.source_Storage", set_whole_storage);
  m.impl("set_.source_Storage_storage_offset", set_storage);
  m.impl("set_.source_Tensor", set_tensor);
  m.impl("_copy_from", copy_from);
  m.impl("_local_scalar_dense", item);
  m.impl("batch_norm_elemt", batch_norm_elemt);
  m.impl("record_stream", record);
  m.impl("_has_compatible_shallow_copy_type", can_be_replaced);
  register_host_operations(m);
}

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}

}  // namespace fewbit::stand_in
