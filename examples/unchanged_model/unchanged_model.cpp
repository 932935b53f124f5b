// torch::nn::TransformerEncoder, not a line changed: what it keeps for backward outside and inside
// a scope of 3 bits, to the byte, and with all of it coded in 2 bits on average.
#include <iostream>

#include <ATen/ops/allclose.h>
#include <ATen/ops/randn.h>
#include <torch/utils.h>

#include "examples/support/activate.hpp"
#include "examples/support/models.hpp"
#include "examples/support/page.hpp"
#include "fewbit/activation_scope.hpp"
#include "fewbit/compressor.hpp"
#include "fewbit/saved_bytes.hpp"

namespace fewbit::examples {
namespace {

constexpr int kBits = 3;
constexpr double kAverage = 2;

struct PackedTensor {
  int64_t bytes = 0;
  int64_t forecast = 0;  // for a scope
  std::string explanation;
  at::Tensor y;
};

PackedTensor forward(torch::nn::TransformerEncoder& model, const at::Tensor& x) {
  SavedBytes meter;
  at::Tensor y;
  {
    const auto watch = meter.watch();
    y = model->forward(x);
  }
  return {meter.unique_bytes(), meter.unique_bytes_in_scope({kBits}), meter.explain({kBits}), y};
}

int unchanged_model(const Arguments& arguments) {
  torch::manual_seed(1);
  using Sizes = EncoderSizes;
  torch::nn::TransformerEncoder model = make_encoder();
  const at::Tensor x = at::randn({Sizes::kLength, Sizes::kSequences, Sizes::kWidth});

  const PackedTensor before = forward(model, x);
  std::string report;
  const PackedTensor after = [&] {
    const ActivationScope scope({.bits = kBits});
    const PackedTensor kept = forward(model, x);
    report = scope.report();
    return kept;
  }();
  Compressor compressor({.bits = kAverage});
  PackedTensor coded;
  for (int i = 0; i < 2; ++i) {  // first it measures, by which bits are split
    const CompressionScope scope(compressor);
    coded = forward(model, x);
  }
  const PackedTensor outside = forward(model, x);

  const int64_t elements = Sizes::kLength * Sizes::kSequences * Sizes::kFeedForward;
  const int64_t expected =
      Sizes::kLayers * (elements * int64_t{sizeof(float)} - code_bytes(elements, kBits));
  std::cout << "before:\n"
            << before.explanation << "\nin a scope of " << kBits << " bits:\n"
            << after.explanation << '\n'
            << report << "\ncompressed, 2 bits:\n"
            << compressor.report() << '\n';

  Sheet sheet{"Bytes kept for backward", {"run", "bytes"}, {}};
  sheet.rows = {{"exact", std::to_string(before.bytes)},
                {"in a scope of 3 bits", std::to_string(after.bytes)},
                {"the meter's forecast of that", std::to_string(before.forecast)},
                {"saved", std::to_string(before.bytes - after.bytes)},
                {"saved by arithmetic", std::to_string(expected)},
                {"compressed, 2 bits", std::to_string(coded.bytes)}};
  std::cout << markdown(sheet);
  if (!arguments.folder.empty()) {
    Page page("A TransformerEncoder, unchanged, in a scope");
    page.add(sheet);
    page.write(arguments.folder, "unchanged_model");
  }

  Outcome outcome;
  outcome.expect(before.bytes - after.bytes == expected,
                 "the scope saves 32 - 3 bits per element of every GELU");
  outcome.expect(before.forecast == after.bytes, "the meter foretells it to the byte");
  outcome.expect(outside.bytes == before.bytes, "outside the scope nothing changes");
  outcome.expect(coded.bytes * 9 < before.bytes, "compressed it keeps less than a ninth");
  outcome.expect(at::allclose(after.y, before.y, 1e-5, 1e-5), "the output is the same");
  return outcome.exit_code();
}

}  // namespace
}  // namespace fewbit::examples

int main(int count, char** values) {
  return fewbit::examples::run_example(count, values, fewbit::examples::unchanged_model);
}
