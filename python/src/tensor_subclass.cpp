#include "fewbit/tensor_subclass.hpp"

#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "bindings.hpp"

namespace fewbit::python {

namespace {

using Wrap = std::function<at::Tensor(const at::Tensor&)>;
using InnerOf = std::function<std::optional<std::pair<at::Tensor, Wrap>>(const at::Tensor&)>;

void look_into(InnerOf inner_of) {
  look_into_subclasses([inner_of = std::move(inner_of)](const at::Tensor& tensor) {
    auto found = inner_of(tensor);
    return found ? std::optional(TensorSubclass{std::move(found->first), std::move(found->second)})
                 : std::nullopt;
  });
}

}  // namespace

void bind_tensor_subclasses(py::module_& m) {
  m.def("look_into_subclasses", &look_into);
}

}  // namespace fewbit::python
