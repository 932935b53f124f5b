#include "fewbit/activation_scope.hpp"

#include <pybind11/stl.h>

#include "bindings.hpp"
#include "fewbit/calibrator.hpp"

namespace fewbit::python {

namespace {

using Scope = Open<ActivationScope>;

}  // namespace

void bind_activation_scope(py::module_& m) {
  using Entry = ActivationScope::Entry;
  py::class_<Entry>(m, "ActivationScopeEntry")
      .def_readonly("function", &Entry::function)
      .def_readonly("outcome", &Entry::outcome)
      .def_readonly("replaced", &Entry::replaced)
      .def_readonly("calls", &Entry::calls)
      .def_readonly("elements", &Entry::elements);
  py::class_<Scope>(m, "ActivationScope")
      .def(py::init([](int bits, Calibrator* calibrator) {
             const ActivationScopeOptions options{bits};
             return calibrator == nullptr ? std::make_unique<Scope>(options)
                                          : std::make_unique<Scope>(options, *calibrator);
           }),
           Unlocked())
      .def(
          "rule_bits",
          [](const Scope& self, const std::string& function, int bits) {
            (*self).rule(function, Bits{bits});
          },
          Unlocked())
      .def(
          "rule_table",
          [](const Scope& self, const std::string& function, const Table& table) {
            (*self).rule(function, table);
          },
          Unlocked())
      .def(
          "leave_alone",
          [](const Scope& self, const std::string& function) { (*self).leave_alone(function); },
          Unlocked())
      .def(
          "entries", [](const Scope& self) { return (*self).entries(); }, Unlocked())
      .def(
          "report", [](const Scope& self) { return (*self).report(); }, Unlocked())
      .def("close", &Scope::close, Unlocked());
}

}  // namespace fewbit::python
