// Outputs of activations, by what the codes of these do not tell of them.
#include <ATen/ATen.h>

#include "bench/codecs/draws.hpp"
#include "bench/codecs/forms.hpp"
#include "bench/codecs/studies.hpp"
#include "ops/activation.hpp"
#include "ops/rotated.hpp"

namespace fewbit::bench {

namespace {

using examples::number;

/// What one makes of N(0, 1).
struct Activated {
  at::Tensor y;
  codecs::Classes classes;

  Activated(const std::string& function, int bits, int64_t elements) {
    at::manual_seed(9);
    const at::Tensor x = at::randn({elements});
    const Table table = Table::standard(function, Bits{bits});
    at::Tensor codes;
    std::tie(y, codes) = ops::activation_forward(x, ops::arguments_of(table, at::kFloat));
    classes.count = 1 << table.bits();
    classes.of_elements = [codes, width = table.bits()] {
      return ops::ElementClasses{codes, width};
    };
    if (function == "relu") classes.zero = 0;
  }

  /// The mean deviation within a class, over all: what the best weights of classes leave of the
  /// error is its square.
  double deviation() const {
    const at::Tensor of_elements = classes.of_elements().bytes(y.numel());
    double sum = 0.0;
    for (int c = 0; c < classes.count; ++c) {
      const at::Tensor members = y.masked_select(of_elements.eq(c)).to(at::kDouble);
      if (members.numel() < 2) continue;
      const double share = static_cast<double>(members.numel()) / static_cast<double>(y.numel());
      sum += share * members.std(/*unbiased=*/false).item<double>();
    }
    return sum;
  }
};

Draws draws_of(const codecs::CodecPointer& codec, const at::Tensor& y, int64_t count) {
  Draws draws;
  for (int64_t draw = 0; draw < count; ++draw) {
    draws.add(codec->encode(y, stream(4, draw))->decoded().sub_(y));
  }
  return draws;
}

}  // namespace

examples::Sheet outputs_by_class(int64_t elements, int64_t draws) {
  examples::Sheet sheet{"Outputs of activations by class",
                        {"function", "bits of its codes", "bits", "rotated", "by class", "expected",
                         "rotated / by class", "bias, z"},
                        {}};
  const std::vector<std::pair<std::string, int>> activations = {
      {"relu", 1}, {"gelu", 1}, {"gelu", 2}, {"gelu", 3}, {"gelu", 4}, {"silu", 2}, {"silu", 3}};
  for (const auto& [function, width] : activations) {
    const Activated activated(function, width, elements);
    const double energy = energy_of(activated.y);
    const double left =
        static_cast<double>(elements) * activated.deviation() * activated.deviation() / energy;
    for (const int bits : {1, 2, 3, 4}) {
      const codecs::RotatedCodes form{bits, kGroup};
      const Draws whole = draws_of(codecs::rotated(form), activated.y, draws);
      const Draws rest =
          draws_of(codecs::rotated_by_class(form, activated.classes), activated.y, draws);
      sheet.rows.push_back(
          {function, std::to_string(width), std::to_string(bits),
           number(whole.squared_error() / energy), number(rest.squared_error() / energy),
           number(ops::rotated_error(form) * left),
           number(whole.squared_error() / rest.squared_error()), number(rest.bias_z(), 2)});
    }
  }
  return sheet;
}

}  // namespace fewbit::bench
