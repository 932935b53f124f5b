#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace fewbit::session {

/// A tensor of the model as an operation took it. Of a cast of a parameter, as autocast makes one
/// of every weight, only the parameter is held, and cast again.
class Weight {
 public:
  Weight() = default;
  explicit Weight(const at::Tensor& given) : held_(given.tensor_data()) {}
  /// given: a view of the parameter's cast, which lies in memory as the parameter does.
  Weight(const at::Tensor& given, const at::Tensor& parameter)
      : held_(parameter.tensor_data()),
        is_cast_(true),
        type_(given.scalar_type()),
        sizes_(given.sizes().vec()),
        strides_(given.strides().vec()),
        offset_(given.storage_offset()) {}

  bool is_cast() const { return is_cast_; }
  /// As given, without the graph.
  at::Tensor tensor() const {
    return is_cast_ ? held_.to(type_).as_strided(sizes_, strides_, offset_) : held_;
  }
  /// The parameter of a cast, or what was given; undefined: nothing was.
  const at::Tensor& held() const { return held_; }

 private:
  at::Tensor held_;
  bool is_cast_ = false;
  at::ScalarType type_ = at::kFloat;
  std::vector<int64_t> sizes_, strides_;
  int64_t offset_ = 0;
};

}  // namespace fewbit::session
