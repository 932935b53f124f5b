#pragma once

#include <memory>
#include <optional>
#include <string>

#include "weights/sample_reader.hpp"

namespace fewbit::solver {

/// A reader of what `name` stands for; see Samples.
std::unique_ptr<SampleReader> open_samples(const std::string& name,
                                           const std::optional<SampleFormat>& format);

}  // namespace fewbit::solver
