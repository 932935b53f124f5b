#pragma once

#include <memory>
#include <string>
#include <utility>

#include <torch/csrc/utils/pybind.h>
#include <torch/ordered_dict.h>

// One file for each public header of C++, whose classes it gives Python by the same names.
namespace fewbit::python {

/// For whatever may run operations of torch's or wait for a lock: other threads go on meanwhile.
using Unlocked = py::call_guard<py::gil_scoped_release>;

void bind_tables(py::module_& m);
void bind_activation_scope(py::module_& m);
void bind_calibrator(py::module_& m);
void bind_checkpoint(py::module_& m);
void bind_compressor(py::module_& m);
void bind_memory_plan(py::module_& m);
void bind_randomized_linear(py::module_& m);
void bind_saved_bytes(py::module_& m);
void bind_tensor_subclasses(py::module_& m);

/// What named_parameters() gives. Throws TypeError for what are no pairs of a name and a tensor.
torch::OrderedDict<std::string, at::Tensor> named_tensors(const py::iterable& pairs);

/// Something of C++ that is open from construction to destruction, as Python has it: until close().
template <class Scope>
class Open {
 public:
  template <class... Arguments>
  explicit Open(Arguments&&... arguments)
      : scope_(std::make_unique<Scope>(std::forward<Arguments>(arguments)...)) {}

  Scope& operator*() const {
    if (!scope_) throw py::value_error("the scope was closed");
    return *scope_;
  }
  void close() { scope_.reset(); }

 private:
  std::unique_ptr<Scope> scope_;
};

}  // namespace fewbit::python
