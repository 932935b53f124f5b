#include "fewbit/memory_plan.hpp"

#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "bindings.hpp"

namespace fewbit::python {

void bind_memory_plan(py::module_& m) {
  using Choice = MemoryPlan::Choice;
  py::class_<Choice>(m, "MemoryPlanChoice")
      .def_readonly("storage", &Choice::storage)
      .def_readonly("bytes", &Choice::bytes)
      .def_readonly("seconds", &Choice::seconds);
  using Site = MemoryPlan::Site;
  py::class_<Site>(m, "MemoryPlanSite")
      .def_readonly("site", &Site::site)
      .def_readonly("bits", &Site::bits)
      .def_readonly("choices", &Site::choices)
      .def_property_readonly("choice", &Site::choice);
  using Checkpoint = MemoryPlan::Checkpoint;
  py::class_<Checkpoint>(m, "MemoryPlanCheckpoint")
      .def_readonly("module", &Checkpoint::module)
      .def_readonly("bytes", &Checkpoint::bytes)
      .def_readonly("seconds", &Checkpoint::seconds)
      .def_readonly("is_proposed", &Checkpoint::is_proposed);
  py::class_<MemoryPlan>(m, "MemoryPlan")
      .def_property_readonly("kept_budget",
                             [](const MemoryPlan& plan) { return plan.budget.kept_bytes; })
      .def_property_readonly("peak_budget",
                             [](const MemoryPlan& plan) { return plan.budget.peak_bytes; })
      .def_readonly("exact_bytes", &MemoryPlan::exact_bytes)
      .def_readonly("exact_peak", &MemoryPlan::exact_peak)
      .def_readonly("forward_peak", &MemoryPlan::forward_peak)
      .def_readonly("step_peak", &MemoryPlan::step_peak)
      .def_readonly("other_bytes", &MemoryPlan::other_bytes)
      .def_readonly("step_seconds", &MemoryPlan::step_seconds)
      .def_readonly("sites", &MemoryPlan::sites)
      .def_readonly("checkpoints", &MemoryPlan::checkpoints)
      .def_property_readonly("bytes", &MemoryPlan::bytes)
      .def_property_readonly("seconds", &MemoryPlan::seconds)
      .def_property_readonly("fits", &MemoryPlan::fits)
      .def("__str__", &MemoryPlan::text);
  m.def("plan_memory", [](const std::function<at::Tensor()>& forward,
                          std::optional<int64_t> kept_bytes, std::optional<int64_t> peak_bytes,
                          const CompressorOptions& options, const py::iterable& parameters) {
    const auto named = named_tensors(parameters);
    const py::gil_scoped_release unlocked;
    return plan_memory(forward, {kept_bytes, peak_bytes}, options, named);
  });
}

}  // namespace fewbit::python
