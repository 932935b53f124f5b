#include "weights/samples.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "weights/densities.hpp"
#include "weights/sample_names.hpp"

namespace fewbit::solver {

namespace {

constexpr size_t kBlockSamples = size_t{1} << 13;

}  // namespace

void check_sample(double value, size_t index, const std::string& name) {
  if (std::fabs(value) <= kLargestInput) return;
  throw Error("sample " + std::to_string(index) + " (counted from 0) is " + shortest(value) +
                  ", accepted are numbers within +-1e+100",
              name);
}

Samples::Samples(const std::vector<std::string>& names, const std::optional<SampleFormat>& format)
    : names_(names) {
  for (const auto& name : names) readers_.push_back(open_samples(name, format));
}

Samples::Samples(std::istream& in, const SampleFormat& format, const std::string& name)
    : names_({name}) {
  readers_.push_back(make_sample_reader(stream_source(in, name), format));
}

Samples::Samples(Samples&&) noexcept = default;
Samples& Samples::operator=(Samples&&) noexcept = default;
Samples::~Samples() = default;

SampleShape Samples::shape(size_t file) const {
  return readers_[file]->shape();
}

std::string Samples::name() const {
  const std::string& first = names_.front() == "-" ? "standard input" : names_.front();
  if (names_.size() == 1) return first;
  return first + " and " + std::to_string(names_.size() - 1) + " more";
}

void Samples::for_each_block(size_t file, const Visit& visit) const {
  SampleReader& reader = *readers_[file];
  reader.rewind();
  std::vector<double> block(kBlockSamples);
  while (const size_t size = reader.read(block)) {
    const std::span samples(block.data(), size);
    if (ends_) {
      for (double& sample : samples) sample = std::clamp(sample, ends_->lo, ends_->hi);
    }
    visit(samples);
  }
}

void Samples::for_each_block(const Visit& visit) const {
  for (size_t file = 0; file < files(); ++file) for_each_block(file, visit);
}

}  // namespace fewbit::solver
