// Which takes a jump to another stack for an error.
#undef _FORTIFY_SOURCE

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include <setjmp.h>
#include <ucontext.h>

#include "cuda_runtime_api.h"

dim3 threadIdx;
dim3 blockIdx;

namespace emulator {

Order order = Order::ascending;
unsigned last_blocks = 0;

namespace {

constexpr unsigned kLanes = 32;
constexpr size_t kStackBytes = 256 * 1024;

enum class State { ready, at_warp, at_block, ended };

#if defined(__SANITIZE_ADDRESS__)
#define FEWBIT_EMULATOR_SWAPS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FEWBIT_EMULATOR_SWAPS
#endif
#endif

/// Where something goes on that another has the processor of. swapcontext alone would do, but
/// calls the system each time; sanitizers know nothing else.
struct Context {
  ucontext_t begin;
  jmp_buf later;
  bool has_begun = true;
};

[[gnu::noinline]] void go_on(Context& from, Context& to) {
#if defined(FEWBIT_EMULATOR_SWAPS)
  swapcontext(&from.begin, &to.begin);
#else
  if (_setjmp(from.later) != 0) return;
  if (to.has_begun) _longjmp(to.later, 1);
  to.has_begun = true;
  setcontext(&to.begin);
#endif
}

struct Thread {
  Context context;
  std::unique_ptr<std::byte[]> stack = std::make_unique<std::byte[]>(kStackBytes);
  State state = State::ready;
  unsigned exchanges = 0;  ///< so far
};

/// The threads of a block; they run all blocks of all launches, one after the other.
class Block {
 public:
  void run(unsigned count, const std::function<void()>& body) {
    while (threads_.size() < count) {
      threads_.push_back(std::make_unique<Thread>());
      prepare(*threads_.back());
    }
    count_ = count;
    body_ = &body;
    for (unsigned i = 0; i < count; ++i) {
      threads_[i]->state = State::ready;
      threads_[i]->exchanges = 0;
    }
    while (run_the_ready() || release()) {
    }
  }

  void wait(State at) {
    Thread& self = *threads_[threadIdx.x];
    self.state = at;
    go_on(self.context, scheduler_);
  }

  /// What the lanes of a warp give. Two in turn: some lanes may give again while others still look.
  std::array<uint32_t, kLanes>& exchange() {
    return exchanged_[threadIdx.x / kLanes][threads_[threadIdx.x]->exchanges++ % 2];
  }

 private:
  static void enter();

  static void prepare(Thread& thread) {
    ucontext_t& begin = thread.context.begin;
    getcontext(&begin);
    begin.uc_stack.ss_sp = thread.stack.get();
    begin.uc_stack.ss_size = kStackBytes;
    begin.uc_link = nullptr;
    makecontext(&begin, enter, 0);
    thread.context.has_begun = false;
  }

  /// Whether any was.
  bool run_the_ready() {
    bool any = false;
    for (unsigned i = 0; i < count_; ++i) {
      const unsigned index = order == Order::ascending ? i : count_ - 1 - i;
      if (threads_[index]->state != State::ready) continue;
      any = true;
      threadIdx.x = index;
      go_on(scheduler_, threads_[index]->context);
    }
    return any;
  }

  /// Lets those go on whose warp or block has arrived; false where all have ended.
  bool release() {
    bool any = false;
    for (unsigned first = 0; first < count_; first += kLanes) {
      any = release(first, std::min(first + kLanes, count_), State::at_warp) || any;
    }
    any = any || release(0, count_, State::at_block);
    if (!any && !all(0, count_, State::ended)) {
      threads_.clear();  // none of them ends
      throw std::logic_error("threads of a block wait for each other at different places");
    }
    return any;
  }

  bool all(unsigned begin, unsigned end, State state) const {
    for (unsigned i = begin; i < end; ++i) {
      if (threads_[i]->state != state && threads_[i]->state != State::ended) return false;
    }
    return true;
  }

  bool release(unsigned begin, unsigned end, State waiting) {
    if (!all(begin, end, waiting) || all(begin, end, State::ended)) return false;
    for (unsigned i = begin; i < end; ++i) {
      if (threads_[i]->state == waiting) threads_[i]->state = State::ready;
    }
    return true;
  }

  std::vector<std::unique_ptr<Thread>> threads_;
  std::array<std::array<std::array<uint32_t, kLanes>, 2>, 32> exchanged_{};
  Context scheduler_;
  unsigned count_ = 0;
  const std::function<void()>* body_ = nullptr;
};

Block block;

void Block::enter() {
  while (true) {
    (*block.body_)();
    block.wait(State::ended);
  }
}

}  // namespace

cudaError_t run(const cudaLaunchConfig_t& config, const std::function<void()>& thread) {
  constexpr unsigned kMostRows = 65535;
  const dim3 grid = config.gridDim;
  if (grid.x == 0 || grid.y == 0 || grid.y > kMostRows) return cudaErrorInvalidConfiguration;
  if (config.stream != nullptr && (config.stream->is_capturing || config.stream->defer)) {
    cudaLaunchConfig_t later = config;
    later.stream = nullptr;
    const auto launch = [=] { run(later, thread); };
    if (config.stream->is_capturing) {
      config.stream->captured.push_back(launch);
    } else {
      config.stream->defer(launch);
    }
    return cudaSuccess;
  }
  const uint64_t count = uint64_t{grid.x} * grid.y;
  for (uint64_t i = 0 < last_blocks && last_blocks < count ? count - last_blocks : 0; i < count;
       ++i) {
    blockIdx = {static_cast<unsigned>(i % grid.x), static_cast<unsigned>(i / grid.x)};
    block.run(config.blockDim.x, thread);
  }
  return cudaSuccess;
}

}  // namespace emulator

void __syncwarp(unsigned) {
  emulator::block.wait(emulator::State::at_warp);
}

void __syncthreads() {
  emulator::block.wait(emulator::State::at_block);
}

uint32_t emulator::exchanged(uint32_t given, unsigned lane) {
  auto& all = block.exchange();
  all[threadIdx.x % kLanes] = given;
  __syncwarp();
  return all[lane % kLanes];
}

unsigned __ballot_sync(unsigned, int truth) {
  auto& all = emulator::block.exchange();
  all[threadIdx.x % emulator::kLanes] = truth != 0 ? 1 : 0;
  __syncwarp();
  unsigned ballot = 0;
  for (unsigned lane = 0; lane < emulator::kLanes; ++lane) ballot |= all[lane] << lane;
  return ballot;
}

int __any_sync(unsigned mask, int truth) {
  return __ballot_sync(mask, truth) != 0 ? 1 : 0;
}
