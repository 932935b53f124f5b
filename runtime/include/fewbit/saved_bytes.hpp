#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "fewbit/bits.hpp"

namespace fewbit {

namespace session {
class Ledger;
class SavedCall;
class SavedTensorUse;
}  // namespace session

// One tensor that one operation keeps for its backward pass.
struct SavedTensor {
  // Name of the graph node that keeps it, as `grad_fn()->name()` gives it ("GeluBackward0"); where
  // that node could not be seen, the operation that ran ("aten::gelu").
  std::string operation;
  // Number of that node: equal for the tensors that one call of the operation keeps.
  std::int64_t node = 0;
  // Who made the memory: a node's name (that of `operation` itself for its outputs, masks, means
  // and indices), or one of the constants below.
  std::string maker;
  // Number of the node that made it, 0 where there is none; `node` where the operation itself did.
  std::int64_t maker_node = 0;
  // Number of the storage: equal for tensors, views among them, that lie in the same memory.
  std::int64_t storage = 0;
  // Bytes of the whole storage, also where the tensor is a small view of it.
  std::int64_t bytes = 0;
  std::vector<std::int64_t> shape;  // of a nested tensor the first size and -1
  at::ScalarType dtype = at::kFloat;
  at::Device device = at::kCPU;
  // The storage belongs to a leaf that requires a gradient, or was set apart: it lives anyway.
  bool parameter = false;
  // Another of the entries lies in the same storage.
  bool shared = false;
  // It is the result of the operation that keeps it.
  bool is_output = false;
  // The call that keeps it, where the library knows how it could keep less; else null.
  std::shared_ptr<const session::SavedCall> call;

  // Makers that are no node: a leaf that requires a gradient; anything else that has none (the
  // batch, labels, frozen weights, buffers, masks drawn before they are used).
  static constexpr const char* kParameter = "parameter";
  static constexpr const char* kNoGradient = "data without gradient";
};

// Says what autograd keeps of a forward pass until backward, counted by unique storage:
//
//   fewbit::SavedBytes meter;
//   { auto watch = meter.watch(); y = model->forward(x); }
//   std::cout << meter.unique_bytes() << '\n' << meter.explain();
//
// It sees what the thread that opened a watch saves while the watch is open, by the hooks that
// autograd calls for every saved tensor; several watches, of one meter or of more, may be open in
// one thread. All answers speak of the moment at which most bytes were kept (the latest such):
// after a forward that is its end, after a whole training step the end of its forward, after many
// steps the greatest of them. Nothing is copied, and no memory is held: graphs die as they would
// without.
//
// What differs under a watch: a saved tensor is unpacked as the same memory under another handle
// (as with any hook); one that was changed in place is still refused, with our message; hooks of
// one's own on the same saved tensor (SavedVariable::register_hooks) are refused by autograd.
// Not seen: a number in `x * 2` (8 bytes), what an operation keeps without autograd's
// SavedVariable.
//
// May be asked and reset from any thread.
class SavedBytes {
 public:
  // Open from construction to destruction, in one thread; lives on the stack.
  class Watch {
   public:
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    static void* operator new(std::size_t) = delete;

   private:
    friend class SavedBytes;
    explicit Watch(const std::shared_ptr<session::Ledger>& ledger);
    std::unique_ptr<session::SavedTensorUse> use_;
  };

  SavedBytes();
  ~SavedBytes();
  SavedBytes(const SavedBytes&) = delete;
  SavedBytes& operator=(const SavedBytes&) = delete;

  // Throws c10::Error where the process has an autograd engine other than libtorch's own, as every
  // process with Python's torch does, or where saved-tensor hooks are disabled (inside functorch).
  [[nodiscard]] Watch watch();

  // Counts the storages of `tensors` with the parameters: frozen weights, buffers, the batch
  // itself, which live whether autograd keeps them or not. Remembered until the meter dies.
  void set_apart(at::TensorList tensors);

  // Bytes of the storages kept, each once, parameters left out.
  std::int64_t unique_bytes() const;
  // Bytes of the storages kept that are parameters or were set apart, each once.
  std::int64_t parameter_bytes() const;
  // Every saved tensor, in the order of saving.
  std::vector<SavedTensor> entries() const;
  // Bytes that would have been kept at the same moment inside an ActivationScope of so many bits
  // without rules: unique_bytes() without what the activations keep that it replaces, with their
  // codes. To the byte where autocast changes no type of an activation's input (it does so for
  // softplus alone).
  std::int64_t unique_bytes_in_scope(Bits bits = {3}) const;
  // A table by operation with totals, which storages are kept by several operations, and for every
  // activation what codes of so many bits would save of what it and its output's users keep, also
  // where rebuilding the output from the input in backward would save more. Says nothing of what
  // the meter cannot see.
  std::string explain(Bits bits = {3}) const;
  // Forgets what was kept so far, also by graphs that are still alive.
  void reset();

 private:
  std::shared_ptr<session::Ledger> ledger_;
};

}  // namespace fewbit
