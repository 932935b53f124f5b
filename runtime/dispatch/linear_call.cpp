#include "dispatch/linear_call.hpp"

namespace fewbit::session {

namespace {

bool is_linear(const LinearCall& call) {
  return call.x.defined() && call.x.dim() >= 1 && call.factor.defined() && call.factor.dim() == 2 &&
         (!call.bias.defined() || call.bias.dim() == 1);
}

/// aten::addmm(self, mat1, mat2, beta, alpha).
std::optional<LinearCall> sum_call(Arguments arguments) {
  if (!arguments[3].toScalar().equal(1) || !arguments[4].toScalar().equal(1)) return std::nullopt;
  return LinearCall{arguments[1].toTensor(), arguments[2].toTensor(), true,
                    arguments[0].toTensor()};
}

std::optional<LinearCall> any_call(std::string_view operation, Arguments arguments) {
  if (operation == "aten::linear") {
    const at::Tensor bias = arguments[2].isTensor() ? arguments[2].toTensor() : at::Tensor();
    return LinearCall{arguments[0].toTensor(), arguments[1].toTensor(), false, bias};
  }
  if (operation == "aten::addmm") return sum_call(arguments);
  if (operation == "aten::matmul" || operation == "aten::mm") {
    return LinearCall{arguments[0].toTensor(), arguments[1].toTensor(), true, at::Tensor()};
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> linear_operations() {
  return {"linear", "addmm", "matmul", "mm"};
}

std::optional<LinearCall> linear_call(std::string_view operation, Arguments arguments) {
  std::optional<LinearCall> call = any_call(operation, arguments);
  return call && is_linear(*call) ? call : std::nullopt;
}

TORCH_LIBRARY_IMPL(aten, TESTING_ONLY_GenericMode, m) {
  intercept(m, linear_operations());
}

}  // namespace fewbit::session
