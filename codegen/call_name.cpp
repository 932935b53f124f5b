#include "codegen/call_name.hpp"

namespace fewbit::codegen {

const char* call_name(Kind kind) {
  switch (kind) {
    case Kind::sqrt:
      return "sqrt";
    case Kind::exp:
      return "exp";
    case Kind::expm1:
      return "expm1";
    case Kind::log:
      return "log";
    case Kind::log1p:
      return "log1p";
    case Kind::tanh:
      return "tanh";
    case Kind::sech2:
      return "sech2";
    case Kind::sigmoid:
      return "sigmoid";
    case Kind::sigmoid_slope:
      return "sigmoid_slope";
    case Kind::softplus:
      return "softplus";
    case Kind::tanh_softplus:
      return "tanh_softplus";
    case Kind::tanh_softplus_slope:
      return "tanh_softplus_slope";
    case Kind::mish_slope:
      return "mish_slope";
    case Kind::tanh_squared:
      return "tanh_squared";
    case Kind::tanhshrink:
      return "tanhshrink";
    case Kind::softsign_slope:
      return "softsign_slope";
    case Kind::erf:
      return "erf";
    case Kind::normcdf:
      return "normcdf";
    case Kind::sin:
      return "sin";
    case Kind::cos:
      return "cos";
    case Kind::atan:
      return "atan";
    case Kind::gelu:
      return "gelu";
    default:
      return "normpdf";
  }
}

}  // namespace fewbit::codegen
