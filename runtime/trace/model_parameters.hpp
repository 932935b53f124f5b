#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

// What of a tensor is the model's own, by the graph behind it.
namespace fewbit::session {

/// Whether it is a parameter, a view or a cast of one.
bool is_of_model(const at::Tensor& tensor);

/// Where the parameters lie that ask for a gradient and that the operation took which made the
/// tensor, or what it is a view or a cast of.
std::vector<const void*> parameters_of_maker(const at::Tensor& tensor);

/// Whether it is made of nothing but parameters that ask for a gradient, by views, casts, copies,
/// cat and stack.
bool is_made_of_parameters(const at::Tensor& tensor);

/// Whether it is a view or a cast of a parameter that asks for a gradient.
bool is_of_parameter(const at::Tensor& tensor);

/// A tensor of the model as an operation took it. Where that is a cast of a parameter that asks for
/// a gradient, as autocast makes one of every weight, only the parameter is held, and cast again.
class Weight {
 public:
  Weight() = default;
  explicit Weight(const at::Tensor& given);
  /// Of something that shows a cast of the parameter.
  Weight(const at::Tensor& given, const at::Tensor& parameter);

  bool is_cast() const { return is_cast_; }
  /// As given, without the graph.
  at::Tensor tensor() const;
  /// The parameter of a cast, or what was given; undefined: nothing was.
  const at::Tensor& held() const { return held_; }

 private:
  at::Tensor held_;
  bool is_cast_ = false;
  at::ScalarType type_ = at::kFloat;
  std::vector<int64_t> sizes_, strides_;
};

}  // namespace fewbit::session
