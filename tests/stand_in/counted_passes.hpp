#pragma once

#include <map>
#include <string>

#include <ATen/record_function.h>

// What bench/results/cuda_counts.json says of the kernels that our operations launch.
namespace fewbit::test {

/// How an operation's kernel and arguments are named there, "rotated_encode f32 256 b2", without a
/// table's name, "forward gelu f32 b3"; of one that is not counted its own name.
std::string pass_of(const at::RecordFunction& operation);

/// Instructions that a thread issues for each element, by these names.
std::map<std::string, double> instructions_of_passes();

}  // namespace fewbit::test
