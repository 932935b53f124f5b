#include "session/fading_tensor.hpp"

#include <utility>

#include <ATen/ops/empty.h>

namespace fewbit::session {

FadingTensor::FadingTensor(const at::Tensor& tensor)
    : held_(tensor.detach()),
      memory_(memory_of(tensor)),
      version_(tensor.unsafeGetTensorImpl()->version_counter()),
      options_(tensor.options()),
      sizes_(tensor.sizes().vec()),
      strides_(tensor.strides().vec()),
      offset_(tensor.storage_offset()) {}

at::Tensor FadingTensor::tensor() const {
  if (held_.defined()) return held_;
  auto owner = memory_.owner.lock();
  if (!owner) return {};
  auto* const storage = static_cast<c10::StorageImpl*>(owner.release());
  at::Tensor tensor = at::empty({0}, options_);
  tensor.set_(c10::Storage(c10::intrusive_ptr<c10::StorageImpl>::reclaim(storage)), offset_, sizes_,
              strides_);
  tensor.unsafeGetTensorImpl()->set_version_counter(version_);
  return tensor;
}

}  // namespace fewbit::session
