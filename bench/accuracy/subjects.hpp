#pragma once

#include <functional>
#include <string>
#include <vector>

namespace fewbit::bench {

/// Points that a subject is given at once: whole blocks of the kernels, whole vectors of libtorch,
/// and too few for it to start threads of its own.
inline constexpr size_t kChunk = 1 << 14;

/// A way to get f and f' in float. `evaluate` reads kChunk points and writes as many of each;
/// threads may call it at the same time.
struct Subject {
  std::string name;
  std::function<void(const float* x, float* value, float* slope)> evaluate;
};

/// The function `name` of the registry with its default parameters, in this order:
/// - code: generated/ as any host runs it, compiled without fused multiply-add;
/// - kernel: what the runtime's pass writes as y, and the f' that its unbiased form rounds, on the
///   widest instruction set that Highway takes;
/// - libtorch: its own float32 operation and its autograd with gradient 1.
std::vector<Subject> subjects_of(const std::string& name);

}  // namespace fewbit::bench
