#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "compression/operators/consumer.hpp"
#include "fewbit/compressor.hpp"
#include "trace/running_operations.hpp"

namespace fewbit::session {

/// Of a checkpoint that does not tell its end, as torch's in Python: what follows counts as within
/// it.
inline constexpr int64_t kFrameWithoutEnd = -1;

/// Follows the results of operations until it is known who takes them.
class Consumers {
 public:
  struct Decision {
    bool is_exact = false;
    bool is_taken = true;  ///< by somebody that decides it
    at::Tensor mean = {};  ///< where that takes the result itself
    int64_t channels = 0;  ///< where a norm of channels takes what came of it; 0: none

    ExactReason reason() const {
      return is_taken ? ExactReason::divided : ExactReason::result_in_use;
    }
  };
  /// Is told once.
  using Decide = std::function<void(const Decision& decision)>;

  /// The running operation, which saves the tensor; run tells apart what is saved of one memory,
  /// and the same run is followed once. Who divides decides at once, also behind others. A product
  /// of different tensors and a derivative may be coded as soon as a sum takes the result that has
  /// a gradient, other factors when nobody holds a result any more; all of them before the saved
  /// tensor changes in place, which is seen.
  void follow(const std::string& operation, const at::Tensor& saved, const void* run, Factor factor,
              Decide decide);
  /// The same of a checkpoint's input, which operations of its function take. It may be coded once
  /// the function has ended (kEndOfFrame) and a layer has taken it or what came of it, and stays
  /// exact where the function chooses by anything that it makes of numbers.
  void follow_input(const std::string& operation, const at::Tensor& input, const void* run,
                    int64_t frame, Decide decide);
  /// Of a function that saves its inputs once it has run: what takes them is noted from here until
  /// follow_input of the same operation, or until it ends.
  void start_function(const RecordedCall& call);
  void end_function(const RecordedCall& call);
  /// The same of an operation in place that has ended: saved is what stands for its codes then.
  void follow_result(const std::string& operation, const at::Tensor& saved,
                     const at::Tensor& result, const void* run, Factor factor, Decide decide);
  bool is_empty() const { return followed_.empty(); }
  void start_call(const RecordedCall& call);
  void end_call(const RecordedCall& call);
  /// Nothing that is followed takes them any more: exact where somebody holds a result, but for
  /// products and derivatives, which losses outside of the scope hardly divide by.
  void end();

 private:
  /// A result: its memory, and whether the tensor itself is still held by somebody.
  struct Result {
    using Held = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
    Memory memory;
    Held tensor;
  };
  struct Followed {
    std::string operation;
    Memory saved;
    const void* run;
    Factor factor;
    Decide decide;
    bool has_ended = false;             ///< the operation
    std::vector<Result> results = {};   ///< its own and what came of that
    std::vector<Result> sums = {};      ///< of a square's results
    int64_t frame = 0;                  ///< of a checkpoint, whose input it is; 0: none
    std::vector<Result> integers = {};  ///< that were made of numbers within it
    bool is_of_layer = false;           ///< has taken it
    at::Tensor mean = {};               ///< that took the first of them
    int64_t channels = 0;               ///< of a norm that took what came of it
  };
  /// An input of a function that has not saved it yet.
  struct Unsaved {
    const void* call;  ///< whose arguments these are
    std::string operation;
    Memory input;
    std::optional<Decision> decision = {};
  };
  /// Whether it was followed before, whose decision holds or is still to come.
  bool follow_on(const std::string& operation, const at::Tensor& input, const void* run,
                 const Decide& decide);
  /// Of all of a followed operation's results that it takes.
  static std::optional<Consumer> consumer(const RecordedCall& call, const Followed& followed);
  static void add_result(const at::Tensor& tensor, std::vector<Result>& results);
  static void add_results(const RecordedCall& call, std::vector<Result>& results);
  static bool is_held(const Followed& followed);
  static bool takes_any(const RecordedCall& call, const std::vector<Result>& results);
  static bool is_weighable(const RecordedCall& call, std::optional<Consumer> by,
                           const Followed& followed);
  /// By units or weights of their own.
  static bool weighs_sums(const RecordedCall& call, const Followed& followed);
  static bool is_end_of(const RecordedCall& call, const Followed& followed);
  static bool chooses_within(const RecordedCall& call, const Followed& followed);
  void follow_ended(Followed followed, const at::Tensor& result);
  void decide(const RecordedCall& call);
  void leave(size_t most);

  std::vector<Followed> followed_;
  std::vector<std::shared_ptr<Unsaved>> unsaved_;  ///< the latest last
};

}  // namespace fewbit::session
