#include "fewbit/saved_bytes.hpp"

#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "bindings.hpp"
#include "fewbit/peak_bytes.hpp"

namespace fewbit::python {

namespace {

struct Watched {
  explicit Watched(SavedBytes& meter) : watch(meter.watch()) {}
  SavedBytes::Watch watch;
};

}  // namespace

void bind_saved_bytes(py::module_& m) {
  py::class_<SavedTensor>(m, "SavedTensor")
      .def_readonly("operation", &SavedTensor::operation)
      .def_readonly("node", &SavedTensor::node)
      .def_readonly("maker", &SavedTensor::maker)
      .def_readonly("maker_node", &SavedTensor::maker_node)
      .def_readonly("storage", &SavedTensor::storage)
      .def_readonly("bytes", &SavedTensor::bytes)
      .def_readonly("shape", &SavedTensor::shape)
      .def_readonly("dtype", &SavedTensor::dtype)
      .def_readonly("device", &SavedTensor::device)
      .def_readonly("parameter", &SavedTensor::parameter)
      .def_readonly("shared", &SavedTensor::shared)
      .def_readonly("is_output", &SavedTensor::is_output);
  py::class_<SavedBytes>(m, "SavedBytes")
      .def(py::init<>())
      .def("set_apart",
           [](SavedBytes& self, const std::vector<at::Tensor>& tensors) {
             const py::gil_scoped_release unlocked;
             self.set_apart(tensors);
           })
      .def_property_readonly("unique_bytes", &SavedBytes::unique_bytes)
      .def_property_readonly("parameter_bytes", &SavedBytes::parameter_bytes)
      .def("entries", &SavedBytes::entries, Unlocked())
      .def(
          "unique_bytes_in_scope",
          [](const SavedBytes& self, int bits) { return self.unique_bytes_in_scope(Bits{bits}); },
          Unlocked())
      .def(
          "explain", [](const SavedBytes& self, int bits) { return self.explain(Bits{bits}); },
          Unlocked())
      .def("reset", &SavedBytes::reset, Unlocked());
  py::class_<Open<Watched>>(m, "SavedBytesWatch")
      .def(py::init<SavedBytes&>(), Unlocked())
      .def("close", &Open<Watched>::close, Unlocked());
  m.def("peak_bytes", &peak_bytes, Unlocked());
}

}  // namespace fewbit::python
