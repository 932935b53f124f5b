#include "ops/autocast.hpp"

#include <ATen/autocast_mode.h>

namespace fewbit::ops {

at::Tensor in_lower_precision(const at::Tensor& x) {
  if (!x.defined()) return x;
  const at::DeviceType device = x.device().type();
  if (!at::autocast::is_autocast_available(device)) return x;
  if (!at::autocast::is_autocast_enabled(device)) return x;
  return at::autocast::cached_cast(at::autocast::get_autocast_dtype(device), x, device);
}

}  // namespace fewbit::ops
