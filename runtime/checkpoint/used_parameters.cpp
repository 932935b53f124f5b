#include "checkpoint/used_parameters.hpp"

#include <c10/util/Exception.h>

#include "text/names.hpp"
#include "trace/running_operations.hpp"

namespace fewbit::session {

void UsedParameters::add(const c10::IValue& argument) {
  if (argument.isTensor()) {
    add(argument.toTensor());
  } else if (argument.isTensorList()) {
    for (const at::Tensor& tensor : argument.toTensorVector()) add(tensor);
  }
}

void UsedParameters::add(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.requires_grad()) return;
  const at::Tensor root = tensor.is_view() ? at::Tensor(tensor._base()) : tensor;
  if (!root.is_leaf() || !root.requires_grad()) return;
  used_.try_emplace(root.unsafeGetTensorImpl(), Used{root, root._version()});
}

void UsedParameters::note_versions() {
  for (auto& [address, used] : used_) used.version = used.tensor._version();
}

void UsedParameters::check() const {
  for (const auto& [address, used] : used_) {
    const at::Tensor& tensor = used.tensor;
    TORCH_CHECK(tensor._version() == used.version, kCheckpointOperation,
                ": backward runs the function again, but one of its parameters has been modified "
                "by an inplace operation since the forward: ",
                tensor.toString(), " ", shape_text(shape_of(tensor)), " is at version ",
                tensor._version(), "; expected version ", used.version);
  }
}

}  // namespace fewbit::session
