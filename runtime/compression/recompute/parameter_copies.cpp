#include "compression/recompute/parameter_copies.hpp"

#include <algorithm>
#include <utility>

#include "trace/contents.hpp"

namespace fewbit::session {

at::Tensor ParameterCopies::of(const at::Tensor& parameter) {
  Memory memory = memory_of(parameter);
  std::vector<Copy>& copies = copies_[memory.address()];
  const uint64_t fingerprint = fingerprint_of(parameter);
  const auto found = std::ranges::find_if(copies, [&](const Copy& known) {
    return known.offset == parameter.storage_offset() && parameter.sizes() == known.sizes &&
           parameter.strides() == known.strides && known.version == parameter._version() &&
           known.fingerprint == fingerprint && !known.memory.owner.expired();
  });
  if (found != copies.end()) return found->copy;
  copies.push_back({std::move(memory), parameter.storage_offset(), parameter.sizes().vec(),
                    parameter.strides().vec(), parameter._version(), fingerprint,
                    parameter.tensor_data().clone()});
  return copies.back().copy;
}

}  // namespace fewbit::session
