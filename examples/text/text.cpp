// A small transformer that reads the licences of the system byte by byte: loss curves with exact
// derivatives, inside scopes of 3, 2 and 1 bits, in such of 2 bits whose tables are fitted to each
// layer on the way, and with all that the model keeps in 2 and 4 bits on average. GELU, then gated
// SiLU. The model calls torch's own functions. Beside them an exact run whose first parameters were
// nudged: what rounding alone does. Short: fewer steps, without 2 bits and 1.
#include <cmath>
#include <iostream>
#include <memory>

#include "examples/support/page.hpp"
#include "examples/support/subject.hpp"
#include "fewbit/activation_scope.hpp"
#include "fewbit/compressor.hpp"

namespace fewbit::examples {
namespace {

constexpr size_t kTail = 100;
constexpr double kLogOf256 = 5.545177444479562;

struct Variant {
  int bits;  // 0: exact
  bool is_calibrated = false;
  bool is_nudged = false;
  bool is_compressed = false;

  bool is_plain() const { return bits == 0 && !is_nudged; }
  std::string name() const {
    if (is_compressed) return "all in " + std::to_string(bits) + " bits";
    if (bits == 0) return is_nudged ? "exact, nudged" : "exact";
    return (is_calibrated ? "calibrated " : "") + std::to_string(bits) + " bit";
  }
};

struct Curve {
  Variant variant;
  std::vector<double> losses;
  std::vector<Calibrator::Fit> fits;
};

// Points of the curve: means of so many steps.
Line smooth(const Curve& curve, size_t width) {
  Line line{curve.variant.name(), {}};
  for (size_t end = width; end <= curve.losses.size(); end += width) {
    const std::vector<double> part(curve.losses.begin() + static_cast<std::ptrdiff_t>(end - width),
                                   curve.losses.begin() + static_cast<std::ptrdiff_t>(end));
    line.points.emplace_back(static_cast<double>(end), mean(part));
  }
  return line;
}

// Every run sees the same batches and starts from the same parameters, or such next to them.
Curve run(const std::string& function, const Variant& variant, int64_t steps) {
  Subject subject = make_subject("transformer", function, 1);
  subject.recipe.steps = steps;
  if (variant.is_nudged) nudge(subject.parameters, 1);
  const Activate activate = exact(function).activate;
  std::unique_ptr<ActivationScope> scope;
  Calibration calibration(variant.bits);
  Compressor compressor({.bits = variant.is_compressed ? static_cast<double>(variant.bits) : 1.0});
  if (variant.is_compressed) {
    subject.loss = [&compressor, loss = subject.loss](int64_t step, const Activate& taken) {
      const CompressionScope all(compressor);
      return loss(step, taken);
    };
  } else if (variant.is_calibrated) {
    subject.loss = calibration.around(subject.loss);
  } else if (variant.bits > 0) {
    scope = std::make_unique<ActivationScope>(ActivationScopeOptions{.bits = variant.bits});
  }
  Curve curve{variant, train(subject.parameters, subject.loss, activate, subject.recipe),
              calibration.fits()};
  std::cerr << function << ", " << variant.name() << ": "
            << number(tail_mean(curve.losses, kTail), 5) << '\n';
  return curve;
}

// The same points minus those of the exact run.
Line above_exact(const Curve& curve, const Curve& exact_curve, size_t width) {
  Line line = smooth(curve, width);
  const Line exact_line = smooth(exact_curve, width);
  for (size_t i = 0; i < line.points.size(); ++i) {
    line.points[i].second -= exact_line.points[i].second;
  }
  return line;
}

Sheet as_sheet(const std::string& function, const std::vector<Curve>& curves) {
  Sheet sheet{"Loss at the end: " + function, {"derivative", "loss", "above exact"}, {}};
  const double exact_loss = tail_mean(curves[0].losses, kTail);
  for (const Curve& curve : curves) {
    const double loss = tail_mean(curve.losses, kTail);
    sheet.rows.push_back({curve.variant.name(), number(loss, 5), number(loss - exact_loss)});
  }
  return sheet;
}

void check(const std::string& function, const std::vector<Curve>& curves, Outcome& outcome) {
  const double exact_loss = tail_mean(curves[0].losses, kTail);
  outcome.expect(exact_loss < 0.6 * kLogOf256, function + ", exact: has learned");
  for (const Curve& curve : curves) {
    if (curve.variant.is_plain()) continue;
    const std::string name = function + ", " + curve.variant.name() + ": ";
    const double distance = std::abs(tail_mean(curve.losses, kTail) - exact_loss);
    outcome.expect(curve.losses != curves[0].losses, name + "is another run than exact");
    const double percent = curve.variant.is_nudged       ? 1e-4
                           : curve.variant.is_compressed ? 6.0
                           : curve.variant.bits == 1     ? 3.0
                                                         : 1.0;
    outcome.expect(distance < percent / 100.0 * exact_loss,
                   name + "ends within " + number(percent) + " % of exact");
    if (!curve.variant.is_calibrated) continue;
    outcome.expect(curve.fits.size() == 2, name + "one table for each block");
    for (const Calibrator::Fit& fit : curve.fits) {
      outcome.expect(fit.bias_after < fit.bias_before,
                     name + fit.site + ": the fit lowers the smoothed bias, from " +
                         number(fit.bias_before) + " to " + number(fit.bias_after) +
                         "; squared error from " + number(fit.error_before) + " to " +
                         number(fit.error_after));
    }
  }
}

int text(const Arguments& arguments) {
  const int64_t steps = arguments.is_long ? 1000 : 300;
  const Variant exactly{0}, nudged{0, false, true}, fitted{2, true}, all{2, false, false, true};
  std::vector<Variant> variants{exactly, nudged, {3}, fitted, all};
  if (arguments.is_long)
    variants = {exactly, nudged, {3}, {2}, fitted, {1}, {4, false, false, true}, all};
  Page page("Text: loss with few-bit derivatives");
  page.add("Two blocks of width 48 on the licences of /usr/share/common-licenses, " +
           std::to_string(steps) +
           " steps of Adam; the same first parameters and batches for every curve; nudged: every "
           "first parameter moved to a neighbouring float, which shows what rounding alone does. "
           "Loss in nats per byte; at the end: mean of the last 100 steps. Calibrated: the default "
           "table up to step " +
           std::to_string(Calibration::kFitAt) +
           ", from then on one table for each block, fitted "
           "to its inputs since step " +
           std::to_string(Calibration::kWatchFrom) + ".");
  Outcome outcome;
  std::vector<std::string> functions{"gelu"};
  if (arguments.is_long) functions.emplace_back("silu");
  for (const std::string& function : functions) {
    std::vector<Curve> curves;
    for (const Variant& variant : variants) curves.push_back(run(function, variant, steps));
    const Sheet sheet = as_sheet(function, curves);
    Chart chart{function + ": training loss", "step", "loss, nats per byte", {}};
    Chart distance{function + ": above exact", "step", "loss minus exact loss", {}};
    for (const Curve& curve : curves) {
      chart.lines.push_back(smooth(curve, 25));
      distance.lines.push_back(above_exact(curve, curves[0], 50));
    }
    page.add(chart);
    page.add(distance);
    page.add(sheet);
    std::cout << markdown(sheet);
    check(function, curves, outcome);
  }
  if (!arguments.folder.empty()) page.write(arguments.folder, "text");
  return outcome.exit_code();
}

}  // namespace
}  // namespace fewbit::examples

int main(int count, char** values) {
  return fewbit::examples::run_example(count, values, fewbit::examples::text);
}
