#include "codegen/formula.hpp"

namespace fewbit::codegen {

namespace {

int sign_of_number(double value) {
  return value > 0.0 ? 1 : value < 0.0 ? -1 : 0;
}

class Signs {
 public:
  explicit Signs(const Formula& formula) : f_(formula) {}

  int of(int index) {
    const auto found = known_.find(index);
    if (found != known_.end()) return found->second;
    return known_[index] = of_term(f_[index]);
  }

 private:
  int of_term(const Term& term) {
    switch (term.kind) {
      case Kind::constant:
        return sign_of_number(term.value);
      case Kind::parameter:
        return sign_of_number(f_.parameters()[size_t(term.parameter)].second);
      case Kind::negate:
        return -of(term.a);
      case Kind::multiply:
      case Kind::divide:
        return of(term.a) * of(term.b);
      case Kind::add:
        return of(term.a) == of(term.b) ? of(term.a) : 0;
      case Kind::subtract:
        return of(term.a) == -of(term.b) ? of(term.a) : 0;
      case Kind::select:
        return of(term.b) == of(term.c) ? of(term.b) : 0;
      case Kind::exp:
      case Kind::sech2:
      case Kind::sigmoid:
      case Kind::sigmoid_slope:
      case Kind::softplus:
      case Kind::tanh_softplus:
      case Kind::tanh_softplus_slope:
      case Kind::softsign_slope:
      case Kind::normcdf:
      case Kind::normpdf:
        return 1;
      default:
        return 0;
    }
  }

  const Formula& f_;
  std::map<int, int> known_;
};

}  // namespace

int sign_of(const Formula& formula, int index) {
  return Signs(formula).of(index);
}

}  // namespace fewbit::codegen
