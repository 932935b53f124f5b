#include "fewbit/compressor.hpp"

#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "bindings.hpp"
#include "fewbit/memory_plan.hpp"

namespace fewbit::python {

namespace {

void bind_options(py::module_& m) {
  py::enum_<Scheme>(m, "Scheme")
      .value("rotated", Scheme::rotated)
      .value("group", Scheme::group)
      .value("actnn", Scheme::actnn)
      .value("gact", Scheme::gact)
      .value("division", Scheme::division)
      .value("blpa", Scheme::blpa);
  py::enum_<Recompute>(m, "Recompute")
      .value("never", Recompute::never)
      .value("where_better", Recompute::where_better)
      .value("always", Recompute::always);
  py::class_<CompressorOptions>(m, "CompressorOptions")
      .def(py::init<>())
      .def_readwrite("bits", &CompressorOptions::bits)
      .def_readwrite("scheme", &CompressorOptions::scheme)
      .def_readwrite("level", &CompressorOptions::level)
      .def_readwrite("block", &CompressorOptions::block)
      .def_readwrite("activation_bits", &CompressorOptions::activation_bits)
      .def_readwrite("bytes", &CompressorOptions::bytes)
      .def_readwrite("group", &CompressorOptions::group)
      .def_readwrite("trellis", &CompressorOptions::trellis)
      .def_readwrite("directions", &CompressorOptions::directions)
      .def_readwrite("offload", &CompressorOptions::offload)
      .def_readwrite("decoded_cache_bytes", &CompressorOptions::decoded_cache_bytes);
}

void bind_sites(py::module_& m) {
  py::enum_<Storage>(m, "Storage")
      .value("exact", Storage::exact)
      .value("coded", Storage::coded)
      .value("recomputed", Storage::recomputed)
      .value("offloaded", Storage::offloaded);
  py::class_<StoredAs>(m, "StoredAs")
      .def_readonly("storage", &StoredAs::storage)
      .def_readonly("codec", &StoredAs::codec)
      .def_readonly("bits", &StoredAs::bits)
      .def_readonly("recomputed_by", &StoredAs::recomputed_by)
      .def("__str__", &StoredAs::text);
  using Site = Compressor::Site;
  py::class_<Site>(m, "Site")
      .def_readonly("operation", &Site::operation)
      .def_readonly("argument", &Site::argument)
      .def_readonly("call", &Site::call)
      .def_readonly("module", &Site::module)
      .def_readonly("stored", &Site::stored)
      .def_readonly("count", &Site::count)
      .def_readonly("elements", &Site::elements)
      .def_readonly("bytes_before", &Site::bytes_before)
      .def_readonly("bytes_after", &Site::bytes_after)
      .def_readonly("bytes_offloaded", &Site::bytes_offloaded)
      .def_readonly("bytes_of_directions", &Site::bytes_of_directions)
      .def_readonly("error", &Site::error)
      .def_readonly("median_error", &Site::median_error)
      .def("__str__", &Site::name);
  using Left = Compressor::LeftAlone;
  py::class_<Left>(m, "LeftAlone")
      .def_readonly("operation", &Left::operation)
      .def_readonly("reason", &Left::reason)
      .def_readonly("count", &Left::count)
      .def_readonly("bytes", &Left::bytes);
}

}  // namespace

void bind_compressor(py::module_& m) {
  bind_options(m);
  bind_sites(m);
  py::class_<Compressor, std::shared_ptr<Compressor>>(m, "Compressor")
      .def(py::init<CompressorOptions>(), Unlocked())
      .def("name",
           [](Compressor& self, const py::iterable& parameters) {
             const auto named = named_tensors(parameters);
             const py::gil_scoped_release unlocked;
             self.name(named);
           })
      .def(
          "name_by",
          [](Compressor& self, std::function<std::string()> running_module) {
            self.name_by(std::move(running_module));
          },
          Unlocked())
      .def("random_stream", &Compressor::random_stream, Unlocked())
      .def(
          "rule_bits",
          [](Compressor& self, const std::string& pattern, int bits) {
            self.rule(pattern, Bits{bits});
          },
          Unlocked())
      .def(
          "rule_type",
          [](Compressor& self, const std::string& pattern, at::ScalarType type) {
            self.rule(pattern, type);
          },
          Unlocked())
      .def("leave_alone", &Compressor::leave_alone, Unlocked())
      .def("offload_exact", &Compressor::offload_exact, Unlocked())
      .def("recompute", &Compressor::recompute, Unlocked())
      .def("follow", &Compressor::follow, Unlocked())
      .def("sites", &Compressor::sites, Unlocked())
      .def("left_alone_operations", &Compressor::left_alone, Unlocked())
      .def("report", &Compressor::report, Unlocked())
      .def("save", &Compressor::save, Unlocked())
      .def("load", &Compressor::load, Unlocked());
  py::class_<Open<CompressionScope>>(m, "CompressionScope")
      .def(py::init<Compressor&>(), Unlocked())
      .def("close", &Open<CompressionScope>::close, Unlocked());
  py::class_<BudgetPreview::Row>(m, "BudgetRow")
      .def_readonly("bits", &BudgetPreview::Row::bits)
      .def_readonly("bytes", &BudgetPreview::Row::bytes)
      .def_readonly("peak", &BudgetPreview::Row::peak);
  py::class_<BudgetPreview>(m, "BudgetPreview")
      .def_readonly("rows", &BudgetPreview::rows)
      .def_readonly("sites", &BudgetPreview::sites)
      .def("__str__", &BudgetPreview::text);
  m.def("preview_budgets", [](const std::function<at::Tensor()>& forward,
                              const CompressorOptions& options, const py::iterable& parameters) {
    const auto named = named_tensors(parameters);
    const py::gil_scoped_release unlocked;
    return preview_budgets(forward, options, named);
  });
}

}  // namespace fewbit::python
