#include "fewbit/checkpoint.hpp"

#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "bindings.hpp"

namespace fewbit::python {

void bind_checkpoint(py::module_& m) {
  m.def("checkpoint", &checkpoint_list, Unlocked());
}

}  // namespace fewbit::python
