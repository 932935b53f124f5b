#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

/// Work that a stream keeps instead of running it, to run it later as often as one likes: a CUDA
/// graph. The host's part of a step runs once, while it is captured: it may wait for nothing, and
/// numbers that it draws are the same in every run.
namespace fewbit::ops {

/// Whether the current stream of `device` is captured. Only streams of CUDA ever are.
bool is_captured(c10::Device device);

/// The device's own answer; once, before main.
void answer_is_captured(c10::DeviceType type, bool (*is_captured)(c10::DeviceIndex device));

/// One int64 on `device`: `seed`, or, where it is captured, another one in every run of the graph,
/// drawn by torch's generator of the device.
at::Tensor seed_on(c10::Device device, int64_t seed);

}  // namespace fewbit::ops
