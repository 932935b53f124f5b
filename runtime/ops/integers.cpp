#include "ops/integers.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include "kernels/quantizer/integers.hpp"

TORCH_LIBRARY_FRAGMENT(fewbit, m) {
  m.def("integer_encode(Tensor x, int minimum, int bits) -> Tensor");
  m.def(
      "integer_decode(Tensor codes, SymInt count, int minimum, int bits, ScalarType dtype) "
      "-> Tensor");
  m.def("sign_encode(Tensor x) -> Tensor");
  m.def("sign_decode(Tensor codes, SymInt count, ScalarType dtype) -> Tensor");
}

namespace fewbit::ops {

at::Tensor integer_encode(const at::Tensor& x, int64_t minimum, int64_t bits) {
  static const auto operation = c10::Dispatcher::singleton()
                                    .findSchemaOrThrow("fewbit::integer_encode", "")
                                    .typed<at::Tensor(const at::Tensor&, int64_t, int64_t)>();
  return operation.call(x, minimum, bits);
}

at::Tensor integer_decode(const at::Tensor& codes, c10::SymInt count, int64_t minimum, int64_t bits,
                          at::ScalarType dtype) {
  using Signature = at::Tensor(const at::Tensor&, c10::SymInt, int64_t, int64_t, at::ScalarType);
  static const auto operation = c10::Dispatcher::singleton()
                                    .findSchemaOrThrow("fewbit::integer_decode", "")
                                    .typed<Signature>();
  return operation.call(codes, std::move(count), minimum, bits, dtype);
}

at::Tensor sign_encode(const at::Tensor& x) {
  static const auto operation = c10::Dispatcher::singleton()
                                    .findSchemaOrThrow("fewbit::sign_encode", "")
                                    .typed<at::Tensor(const at::Tensor&)>();
  return operation.call(x);
}

at::Tensor sign_decode(const at::Tensor& codes, c10::SymInt count, at::ScalarType dtype) {
  static const auto operation =
      c10::Dispatcher::singleton()
          .findSchemaOrThrow("fewbit::sign_decode", "")
          .typed<at::Tensor(const at::Tensor&, c10::SymInt, at::ScalarType)>();
  return operation.call(codes, std::move(count), dtype);
}

int integer_bits(int64_t minimum, int64_t maximum) {
  return kernels::integer_bits(minimum, maximum);
}

}  // namespace fewbit::ops
