#include "fewbit/randomized_linear.hpp"

#include <pybind11/stl.h>

#include "bindings.hpp"

namespace fewbit::python {

namespace {

using Scope = Open<RandomizedLinearScope>;

}  // namespace

void bind_randomized_linear(py::module_& m) {
  py::enum_<Projection>(m, "Projection")
      .value("gaussian", Projection::gaussian)
      .value("rademacher", Projection::rademacher)
      .value("dct", Projection::dct)
      .value("rows", Projection::rows);
  using Entry = RandomizedLinearScope::Entry;
  py::class_<Entry>(m, "RandomizedLinearScopeEntry")
      .def_readonly("layer", &Entry::layer)
      .def_readonly("outcome", &Entry::outcome)
      .def_readonly("taken", &Entry::taken)
      .def_readonly("calls", &Entry::calls)
      .def_readonly("rows", &Entry::rows)
      .def_readonly("kept", &Entry::kept);
  py::class_<Scope>(m, "RandomizedLinearScope")
      .def(py::init([](double keep, Projection projection) {
             return std::make_unique<Scope>(RandomizedLinearOptions{keep, projection});
           }),
           Unlocked())
      .def("name",
           [](const Scope& self, const py::iterable& parameters) {
             const auto named = named_tensors(parameters);
             const py::gil_scoped_release unlocked;
             (*self).name(named);
           })
      .def(
          "entries", [](const Scope& self) { return (*self).entries(); }, Unlocked())
      .def(
          "report", [](const Scope& self) { return (*self).report(); }, Unlocked())
      .def("close", &Scope::close, Unlocked());
  m.def(
      "randomized_linear",
      [](const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias,
         double keep, Projection projection) {
        return randomized_linear(x, weight, bias.value_or(at::Tensor()), {keep, projection});
      },
      Unlocked());
}

}  // namespace fewbit::python
