#include <torch/csrc/Exceptions.h>

#include "bindings.hpp"

namespace fewbit::python {

torch::OrderedDict<std::string, at::Tensor> named_tensors(const py::iterable& pairs) {
  torch::OrderedDict<std::string, at::Tensor> all;
  for (const py::handle pair : pairs) {
    auto [name, tensor] = pair.cast<std::pair<std::string, at::Tensor>>();
    all.insert(std::move(name), std::move(tensor));
  }
  return all;
}

namespace {

/// Errors of libtorch's as torch's own functions raise them: by their classes, without the stack of
/// C++. Others are pybind11's to translate.
void translate(std::exception_ptr failure) {
  try {
    if (failure) std::rethrow_exception(failure);
  } catch (const c10::Error&) {
    torch::translate_exception_to_python(std::current_exception());
  } catch (const python_error&) {
    torch::translate_exception_to_python(std::current_exception());
  }
}

}  // namespace

}  // namespace fewbit::python

PYBIND11_MODULE(_fewbit, m) {
  using namespace fewbit::python;
  m.doc() = "The classes of C++; fewbit's own modules stand between them and the user.";
  py::register_local_exception_translator(&translate);
  bind_tables(m);
  bind_activation_scope(m);
  bind_calibrator(m);
  bind_checkpoint(m);
  bind_compressor(m);
  bind_memory_plan(m);
  bind_randomized_linear(m);
  bind_saved_bytes(m);
  bind_tensor_subclasses(m);
}
