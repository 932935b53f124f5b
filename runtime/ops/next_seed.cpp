// Seeds of codes in graphs that torch compiled: an operation, since what a graph saves would else
// be coded with the same random numbers in every step.
#include "ops/next_seed.hpp"

#include <atomic>

#include <ATen/Context.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "ops/graph_capture.hpp"

TORCH_LIBRARY_FRAGMENT(fewbit, m) {
  // A CUDA graph would hold one seed for good.
  m.def("next_seed(Tensor like) -> Tensor",
        {at::Tag::nondeterministic_seeded, at::Tag::cudagraph_unsafe});
}

namespace fewbit::ops {

namespace {

thread_local SeedScope* innermost = nullptr;

/// Of no scope: of torch's seed and the number of seeds so far.
int64_t seed_of_process() {
  static std::atomic<uint64_t> drawn = 0;
  const uint64_t seed = at::globalContext().defaultGenerator(at::kCPU).current_seed();
  return static_cast<int64_t>(mixed(mixed(seed) + ++drawn) >> 1);
}

at::Tensor next_seed(const at::Tensor& like) {
  return seed_on(like.device(), innermost ? innermost->next() : seed_of_process());
}

at::Tensor seed_shape(const at::Tensor& like) {
  return at::empty({1}, like.options().dtype(at::kLong).layout(at::kStrided));
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CompositeExplicitAutograd, m) {
  m.impl("next_seed", next_seed);
}

TORCH_LIBRARY_IMPL(fewbit, Meta, m) {
  m.impl("next_seed", seed_shape);
}

uint64_t mixed(uint64_t word) {
  word += 0x9E3779B97F4A7C15u;
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
  return word ^ (word >> 31);
}

SeedScope::SeedScope(int64_t seed) : seed_(seed), outer_(innermost) {
  innermost = this;
}

SeedScope::~SeedScope() {
  for (SeedScope** place = &innermost; *place; place = &(*place)->outer_) {
    if (*place != this) continue;
    *place = outer_;
    return;
  }
}

int64_t SeedScope::next() {
  return static_cast<int64_t>(mixed(static_cast<uint64_t>(seed_) + mixed(++drawn_)) >> 1);
}

}  // namespace fewbit::ops
