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

/// One tensor that one operation saves for its backward pass.
struct SavedTensor {
  /// Name of the graph node that saves it, as `grad_fn()->name()` gives it: "GeluBackward0". Where
  /// that node could not be seen, the operation that ran: "aten::gelu".
  std::string operation;
  /// Number of that node. The tensors that one call of the operation saves have the same number.
  std::int64_t node = 0;
  /// What made the memory: the name of a node, or one of the constants below. For an operation's
  /// own outputs, masks, means and indices it is `operation`.
  std::string maker;
  /// Number of the node that made the memory: `node` where the operation itself did, 0 where no
  /// node did.
  std::int64_t maker_node = 0;
  /// Number of the storage. Tensors in the same memory, such as views, have the same number.
  std::int64_t storage = 0;
  /// Bytes of the whole storage, even where the tensor is a small view of it.
  std::int64_t bytes = 0;
  std::vector<std::int64_t> shape;  ///< of a nested tensor: its first size and -1
  at::ScalarType dtype = at::kFloat;
  at::Device device = at::kCPU;
  /// True if the storage belongs to a leaf that requires a gradient, or was given to
  /// SavedBytes::set_apart. Such memory lives whatever autograd saves.
  bool parameter = false;
  /// True if another entry has the same storage.
  bool shared = false;
  /// True if the tensor is the result of the operation that saves it.
  bool is_output = false;
  /// What explain() tells about the call: it is an activation, or its codes are saved. Else null.
  std::shared_ptr<const session::SavedCall> call;

  /// Makers that are no node: a leaf that requires a gradient, or anything else without a node. The
  /// latter are the batch, labels, frozen weights, buffers, and masks drawn before they are used.
  static constexpr const char* kParameter = "parameter";
  static constexpr const char* kNoGradient = "data without gradient";
};

/// Measures how many bytes autograd saves in a forward pass and holds until backward.
///
/// ```cpp
/// fewbit::SavedBytes meter;
/// {
///   const auto watch = meter.watch();
///   loss = model->forward(x);
/// }
/// std::cout << meter.unique_bytes() << '\n' << meter.explain();
/// ```
///
/// A meter records what a thread saves while a watch is open in it, by the hooks that autograd
/// calls for every saved tensor. Several watches, of one meter or of several, may be open in one
/// thread. Each storage counts once, however many saved tensors lie in it.
///
/// All results describe the peak: the latest moment at which the saved bytes were at their maximum.
/// After one forward, or one training step, that is the end of the forward. After many steps it is
/// the end of the forward with the most saved bytes.
///
/// A meter copies nothing and holds no memory: graphs are freed as without it.
///
/// **What differs under a watch**
/// - A saved tensor is unpacked as the same memory under another handle, as with any hook.
/// - A saved tensor that was changed in place is still refused, with fewbit's message.
/// - Autograd refuses the caller's own hooks on the same saved tensor
///   (SavedVariable::register_hooks).
///
/// **What a meter does not see**
/// - The number in `x * 2` (8 bytes).
/// - What an operation saves without autograd's SavedVariable.
///
/// Results may be read, and the meter reset, from any thread.
class SavedBytes {
 public:
  /// Records what one thread saves, from construction to destruction. Lives on that thread's stack.
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

  /// Opens a watch in this thread.
  ///
  /// Throws c10::Error where the process runs another autograd engine than libtorch's or Python's.
  /// Also throws where hooks on saved tensors are disabled, as inside functorch.
  [[nodiscard]] Watch watch();

  /// Counts the storages of `tensors` as parameters, for as long as the meter lives. Meant for
  /// memory that lives whatever autograd saves: frozen weights, buffers, the batch itself.
  void set_apart(at::TensorList tensors);

  /// Bytes of the saved storages at the peak, without parameters.
  std::int64_t unique_bytes() const;
  /// Bytes of the saved storages at the peak that are parameters or were set apart.
  std::int64_t parameter_bytes() const;
  /// Every saved tensor at the peak, in the order of saving.
  std::vector<SavedTensor> entries() const;

  /// Forecasts unique_bytes() at the same moment in an ActivationScope of `bits` bits (1 to 8)
  /// without rules. Activations that the scope replaces count with their codes.
  ///
  /// Exact to the byte, unless autocast changes the type of an activation's input. Of all
  /// activations it does so for softplus alone. Throws c10::Error for other bits.
  std::int64_t unique_bytes_in_scope(Bits bits = {3}) const;

  /// Describes the saved tensors at the peak, for a person.
  ///
  /// Contains a table by operation with totals, and the storages that several operations save. For
  /// every activation it tells the bytes that the activation and the users of its output save. It
  /// tells how many of these codes of `bits` bits (1 to 8) would free. It also tells where
  /// recomputing the output from the input in backward would free more. What the meter does not see
  /// is not mentioned. Throws c10::Error for other bits.
  std::string explain(Bits bits = {3}) const;

  /// Forgets everything recorded so far, also of graphs that are still alive.
  void reset();

 private:
  std::shared_ptr<session::Ledger> ledger_;
};

}  // namespace fewbit
