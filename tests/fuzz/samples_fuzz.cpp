#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <unistd.h>

#include "base/error.hpp"
#include "weights/histogram_file.hpp"
#include "weights/samples.hpp"
#include "weights/weight.hpp"

namespace {

fewbit::solver::WeightSpec fit(const std::string& text, const fewbit::solver::SampleFormat& format,
                               double clip) {
  std::istringstream in(text);
  fewbit::solver::Samples samples(in, format, "input");
  return fewbit::solver::fit_samples(samples, clip).weight;
}

/// As a file of its own: libzip wants a path.
fewbit::solver::WeightSpec fit_archive(const std::string& text) {
  static const std::string path =
      std::filesystem::temp_directory_path() / ("fewbit_fuzz_" + std::to_string(getpid()) + ".npz");
  std::ofstream(path, std::ios::binary) << text;
  fewbit::solver::Samples samples({path});
  return fewbit::solver::fit_samples(samples).weight;
}

fewbit::solver::WeightSpec read(char kind, const std::string& text) {
  using namespace fewbit::solver;
  using Kind = SampleFormat::Kind;
  using Items = ItemType::Kind;
  switch (kind) {
    case 'n':
      return fit(text, {Kind::npy, Items::bf16}, 1.0);
    case 'c':
      return fit(text, {Kind::csv, {}}, 1.0);
    case 'q':
      return fit(text, {Kind::csv, {}}, 0.9);
    case 'r':
      return fit(text, {Kind::raw, {}}, 1.0);
    case 'd':
      return fit(text, {Kind::raw, Items::f64}, 0.8);
    case 'f':
      return fit(text, {Kind::raw, Items::f16}, 1.0);
    case 'z':
      return fit_archive(text);
    default: {
      std::istringstream in(text);
      return read_histogram(in, "input");
    }
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
