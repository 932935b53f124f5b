#include "expression/library.hpp"

namespace fewbit::solver {

const Library& compositions() {
  static const Library definitions = {
      // In the right tail as accurate as if u were off by two units in its last place.
      {"erfc", {"u"}, {}, "2*normcdf(-1.4142135623730951*u)"},
      {"log2", {"u"}, {}, "1.4426950408889634*log(u)"},
      {"log10", {"u"}, {}, "0.4342944819032518*log(u)"},
      {"pow", {"u", "v"}, {}, "u^v"},
  };
  return definitions;
}

}  // namespace fewbit::solver
