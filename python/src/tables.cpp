#include <pybind11/stl.h>

#include "bindings.hpp"
#include "fewbit/activation.hpp"
#include "fewbit/table.hpp"

namespace fewbit::python {

void bind_tables(py::module_& m) {
  py::class_<Table>(m, "Table")
      .def_static("builtin", &Table::builtin, Unlocked())
      .def_static(
          "standard",
          [](const std::string& function, int bits, const std::vector<double>& parameters) {
            return Table::standard(function, Bits{bits}, parameters);
          },
          py::arg("function"), py::arg("bits"), py::arg("parameters") = std::vector<double>(),
          Unlocked())
      .def_static("load", &Table::load, Unlocked())
      .def_static("from_json", &Table::from_json, Unlocked())
      .def("save", &Table::save, Unlocked())
      .def_property_readonly("function", &Table::function)
      .def_property_readonly("parameters", &Table::parameters)
      .def_property_readonly("name", &Table::name)
      .def_property_readonly("bits", &Table::bits)
      .def_property_readonly("is_even", &Table::is_even)
      .def_property_readonly("is_unbiased", &Table::is_unbiased)
      .def_property_readonly("error", [](const Table& self) { return self.data().error; })
      .def_property_readonly("thresholds", [](const Table& self) { return self.data().thresholds; })
      .def_property_readonly("codes",
                             [](const Table& self) {
                               return std::vector<int>(self.data().interval_codes.begin(),
                                                       self.data().interval_codes.end());
                             })
      .def_property_readonly("levels", [](const Table& self) { return self.data().levels; })
      .def_property_readonly("json", [](const Table& self) { return self.data().json; });
  m.def(
      "activation",
      [](const at::Tensor& x, const Table& table, const std::optional<at::Generator>& generator) {
        return activation(x, table, generator);
      },
      py::arg("x"), py::arg("table"), py::arg("generator") = py::none(), Unlocked());
}

}  // namespace fewbit::python
