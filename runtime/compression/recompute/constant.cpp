#include "compression/recompute/constant.hpp"

#include <c10/util/Exception.h>

#include "trace/contents.hpp"

namespace fewbit::session {

Constant::Constant(const at::Tensor& constant)
    : tensor_(constant), version_(constant._version()), fingerprint_(fingerprint_of(constant)) {}

void Constant::check(std::string_view kind) const {
  TORCH_CHECK(tensor_._version() == version_ && fingerprint_of(tensor_) == fingerprint_,
              "one of the variables needed for gradient computation has been modified by an "
              "inplace operation: ",
              tensor_.toString(), " ", tensor_.sizes(), " is at version ", tensor_._version(),
              "; expected version ", version_, " with the elements of the forward",
              " (fewbit::Compressor: recomputation '", kind, "' computes by it again; recompute(\"",
              kind, "\", fewbit::Recompute::never) stores its result instead)");
}

}  // namespace fewbit::session
