#pragma once

#include <cstdint>
#include <functional>

#include <ATen/core/Tensor.h>

namespace fewbit {

/// Measures the most bytes that tensors of one device hold at once while `step` runs, beyond those
/// that they hold when it starts. This decides whether a batch fits:
///
/// ```cpp
/// std::cout << fewbit::peak_bytes([&] { model->forward(x).sum().backward(); });
/// ```
///
/// Reports of the compressors that code in the step name it from then on.
///
/// Gradients that the step makes count; those that it adds to existing ones do not stay. Counts
/// what torch's allocator hands out to this thread, to autograd's threads for it, and to the thread
/// that offloads. What libraries allocate for themselves, such as oneDNN's scratch memory, does not
/// count. Of a CPU's memory that was held before and is given back meanwhile, as by zero_grad(),
/// torch does not know the size, and it is not deducted: do that before.
///
/// Throws c10::Error while a torch profiler records this thread. What the step throws passes
/// through.
std::int64_t peak_bytes(const std::function<void()>& step, at::Device device = at::kCPU);

}  // namespace fewbit
