#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "base/error.hpp"
#include "weights/histogram_file.hpp"
#include "weights/samples.hpp"
#include "weights/weight.hpp"

namespace {

fewbit::solver::WeightSpec read(char kind, const std::string& text) {
  using namespace fewbit::solver;
  std::istringstream in(text);
  switch (kind) {
    case 'n':
      return read_samples(in, SampleFormat::npy, "input");
    case 'c':
      return read_samples(in, SampleFormat::csv, "input");
    case 'r':
      return read_samples(in, SampleFormat::raw, "input");
    default:
      return read_histogram(in, "input");
  }
}

}  // namespace

/// The first byte chooses the reader. Whatever it reads makes a weight whose density is finite;
/// nothing but Error leaves it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  fewbit::solver::WeightSpec spec;
  try {
    spec = read(static_cast<char>(data[0]), {reinterpret_cast<const char*>(data) + 1, size - 1});
  } catch (const fewbit::Error&) {
    return 0;
  }
  const auto weight = fewbit::solver::make_weight(spec);
  for (const double edge : spec.edges) {
    if (!(weight->density(edge) >= 0.0 && weight->density(edge) < 1e101)) std::abort();
  }
  return 0;
}
