#include "fewbit/calibrator.hpp"

#include <pybind11/stl.h>

#include "bindings.hpp"

namespace fewbit::python {

void bind_calibrator(py::module_& m) {
  using Fit = Calibrator::Fit;
  py::class_<Fit>(m, "CalibratorFit")
      .def_readonly("site", &Fit::site)
      .def_readonly("function", &Fit::function)
      .def_readonly("bits", &Fit::bits)
      .def_readonly("elements", &Fit::elements)
      .def_readonly("mean", &Fit::mean)
      .def_readonly("spread", &Fit::spread)
      .def_readonly("within", &Fit::within)
      .def_readonly("error_before", &Fit::error_before)
      .def_readonly("error_after", &Fit::error_after)
      .def_readonly("bias_before", &Fit::bias_before)
      .def_readonly("bias_after", &Fit::bias_after)
      .def_readonly("note", &Fit::note);
  py::class_<Calibrator>(m, "Calibrator")
      .def(py::init<>())
      .def(
          "fit", [](Calibrator& self) { return self.fit(); }, Unlocked())
      .def("fits", [](const Calibrator& self) { return self.fits(); })
      .def("report", &Calibrator::report, Unlocked())
      .def("save", &Calibrator::save, Unlocked())
      .def("load", py::overload_cast<const std::string&>(&Calibrator::load), Unlocked());
}

}  // namespace fewbit::python
