#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/ordered_dict.h>

#include "fewbit/bits.hpp"

namespace fewbit {

namespace session {
class Compression;
class CompressionPolicy;
class CompressionUser;
class MemoryPlanner;
class PolicyStack;
class SavedTensorUse;
}  // namespace session

struct MemoryPlan;

/// Which codecs store the tensors that operations save for backward.
enum class Scheme {
  /// Ours. Randomized Hadamard rotation, then the optimal table for N(0, 1) (without trellis this
  /// is unbiased EDEN, Vargaftik et al., ICML 2022). Where its measured error is lower: uniform
  /// stochastic quantisation, and for probabilities levels at the squares of equal steps.
  /// Activation codes already place each output in an interval, so only its position within the
  /// interval is stored, also behind a dropout or a pooling and for the input of a norm before the
  /// activation.
  rotated,
  /// Uniform stochastic quantisation between each group's minimum and maximum.
  group,
  /// The same, with bits allocated by ActNN's levels (Chen et al., ActNN, ICML 2021): see `level`.
  actnn,
  /// The same, with bits allocated by GACT's levels (Liu et al., GACT, ICML 2022): see `level`.
  /// GACT's sensitivities come from extra passes; here ordinary backward passes measure them: what
  /// an error does to the gradients of the layer's own weights, and for the loss's probabilities to
  /// those of all layers. Sites without such a measurement count as the typical one.
  gact,
  /// Inputs of convolutions, batch norms and group norms: block means in bf16 plus a `bits`-bit
  /// residual, uniform between each channel's minimum and maximum. Other inputs: as `group`.
  /// Every site has the same whole number of bits (Wang et al., DIVISION, 2022).
  division,
  /// Inputs of norms in equal bins of the norm's output, stored once for norm, relu and the next
  /// layer; a relu behind such a norm reads its signs from these codes (Chakrabarti and Moseley,
  /// NeurIPS 2019). Other inputs: as `group`. 2, 4 or 8 bits, the same for every site.
  blpa
};

/// When a tensor is recomputed in backward from the codes of another one instead of being coded.
enum class Recompute {
  never,
  where_better,  ///< where that has the lower error, once its bits are given to the other tensor
  always         ///< wherever it is possible
};

struct CompressorOptions {
  /// Average over all coded elements: 1 to 8, in the scheme rotated 0.5 to 8. A recomputed tensor
  /// still counts towards the average; its bits go to the tensor it is recomputed from. Every other
  /// tensor has 1 bit at least, so that an average below 1 needs as many recomputed elements.
  double bits = 2;
  Scheme scheme = Scheme::rotated;
  /// Of the schemes actnn (default 3) and gact (default 2). 0: nothing is coded.
  ///   actnn 1  4 bits, inputs of norms stay exact
  ///   actnn 2  4 bits
  ///   actnn 3  `bits` on average: over sites by the energy of their outputs' gradients, which
  ///            backward passes measure, and within a site over samples by their squared ranges
  ///   actnn 4  level 3, and `offload`
  ///   actnn 5  level 4; with a CUDA device the allocator is asked, for the whole process, for
  ///            expandable_segments, unless PYTORCH_ALLOC_CONF names these
  ///   gact 1   `bits`, a whole number
  ///   gact 2   `bits` on average, over sites by the same energies
  std::optional<int> level = {};
  int64_t block = 8;  ///< of the scheme division: elements on each side of a block, above 0
  /// Bits of activation codes, 1 to 8. None: the fewest whose squared error for inputs from N(0, 1)
  /// is at most a sixteenth of the other codes' error: 3 for GELU and SiLU at 2 bits, 8 at 8 bits.
  std::optional<int> activation_bits = {};
  /// Budget in bytes of all codes of one forward, in place of `bits`; 0: none. The first forward
  /// uses `bits`, later ones stay within the budget, or at one bit per element. A forward with more
  /// elements than any before, or with new sites, exceeds it by their share, once.
  int64_t bytes = 0;
  int64_t group = 256;  ///< elements that share a mean and a scale: 64, 128, 256, 512 or 1024
  /// States of the trellis that chooses codes of 1 to 4 bits: 4 or 8; 0: none. With 4 the squared
  /// error is a quarter lower and coding takes twice the time.
  int trellis = 0;
  /// The most directions of channels that are coded apart at a site, 0 to 16. They come from
  /// earlier tensors of the site, and are used where they take off more of the squared error than
  /// as many bits more would. What they take is part of `bits` or `bytes`, so at 1 bit there are
  /// none.
  int directions = 0;
  /// Codes leave the device's memory until backward, except tensors below 4 KiB. A GPU's go to
  /// pinned host memory on a stream of their own and come back ahead of their use. A CPU's go to a
  /// file in the folder TMPDIR, no larger than what is offloaded at a time. Gradients do not
  /// change. Where the file cannot be written, a forward or backward throws c10::Error once, naming
  /// the folder; from then on codes stay in memory.
  bool offload = false;
  /// Cache of decoded and recomputed tensors within a backward pass, in bytes per model. None: half
  /// of the largest coded tensor, which leaves the peak of a step where it is in all networks of
  /// bench/results/steps.md, and raises ResNet-50's by 3 %; on a GPU 512 KiB at least. 0: every use
  /// decodes again. Gradients do not change.
  std::optional<int64_t> decoded_cache_bytes = {};
};

/// Where the numbers of a saved tensor come from in backward.
enum class Storage {
  exact,       ///< the tensor itself stays, as autograd keeps it
  coded,       ///< codes stay
  recomputed,  ///< nothing stays: it is recomputed from the codes of another site
  offloaded    ///< the tensor itself leaves the device's memory until backward
};

/// Why a tensor stays exact that could be coded.
enum class ExactReason {
  requested,     ///< by a rule or a plan, or because codes would take more bytes
  shared,        ///< another operation saves the same memory exactly
  divided,       ///< a logarithm, a root or a quotient uses the operation's result
  result_in_use  ///< somebody still held the operation's result when the scope ended
};

/// How a saved tensor is stored until backward.
struct StoredAs {
  Storage storage = Storage::coded;
  /// "rotated", "rotated by class" (beside the codes of an activation), "normalised" (after means
  /// and deviations), "low rank of 8" (beside 8 directions of channels), "few-bit table" (an
  /// activation's derivative), "squares", "group", ...; empty unless it is coded.
  std::string codec = {};
  double bits = 0.0;                            ///< of an element's code; 0: as many as it needs
  std::string recomputed_by = {};               ///< "linear of norm"; empty unless recomputed
  ExactReason reason = ExactReason::requested;  ///< where it is exact

  /// "rotated, 2 bits", "recomputed: linear of norm", "exact, shared".
  std::string text() const;
};

/// Stores what operations save for their backward pass in few bits, in an unchanged model:
///
/// ```cpp
/// fewbit::Compressor compressor({.bits = 2});
/// {
///   fewbit::CompressionScope scope(compressor);
///   loss = model->forward(x);
/// }
/// loss.backward();
/// std::cout << compressor.report();
/// ```
///
/// Forward values are those of the same model in an ActivationScope. Gradients are estimates; where
/// they are linear in what is stored, their mean is the exact gradient. Use one Compressor for each
/// model; its scopes may be open in several threads.
///
/// **What is coded** (the list: compression/operators)
/// - Inputs of linear layers, convolutions, products, squares and norms. For norms, means and
///   deviations (which the norm saves anyway) are removed first. For factors of products, root mean
///   squares over the dimensions that the other factor broadcasts, or of columns, are removed first
///   where these differ enough to lower the error by a fifth.
/// - Queries, keys and values of attention, with more bits, since attention runs again in backward;
///   probabilities of softmax; probabilities of log_softmax, the greatest of each row exactly.
/// - Inputs of checkpoints (checkpoint.hpp), with as many bits as queries, unless the function
///   divides or chooses by them.
/// - What is raised to the third or fourth power, with more bits, where a layer takes what comes of
/// it,
///   as in an activation that is written out: its gradient takes the square or cube of what is
///   decoded, whose mean is not exact. In a loss it stays exact.
/// - Derivatives of activations, by tables; relu's in 1 bit, exactly.
/// - Masks of dropout in 1 bit, indices of pooling in as few bits as hold them, Boolean masks of
///   attention in 1 bit, other masks of attention in one copy for all layers that share them, all
///   exactly. Of tensors that backward reads only the sizes of, these.
///
/// **What stays exact**
/// - sigmoid, tanh, softplus and logsigmoid, unless a rule names them: their derivatives fall to 0,
///   and losses such as binary_cross_entropy(sigmoid(x)) divide by them.
/// - Whatever a logarithm, a root, a quotient or another power uses. Squares, probabilities, inputs
///   of elu and celu and of checkpoints wait, uncoded, while somebody holds a result of theirs;
///   factors of products and inputs of gelu, silu, mish, hardswish and selu wait until a layer or a
///   sum takes the result. Where a division takes it first, they stay exact (ExactReason::divided).
///   Squares, probabilities, elu and celu also stay exact where the scope ends first
///   (result_in_use), squares that unequal weights multiply, as (y - t)^2 / var, and probabilities
///   times what has a gradient, as p log p. At most 64 tensors wait; then the oldest is decided.
/// - What others save exactly anyway, tensors of fewer than 1,024 elements, parameters with their
///   views, casts and copies, data that no gradient flows through, what other operations and custom
///   functions save, and what is saved within a backward pass.
///
/// **Limits**
/// - Not seen: a logarithm in another thread, of a layer's result, and of a product or an
///   activation (other than elu and celu) behind a sum or the end of the scope. leave_alone("pow"),
///   "mul", "_softmax" or "elu" keeps the operand exact there.
/// - A table's error is relative to a derivative of 1. Where all inputs are near -8, gradients are
///   small and their relative error is large.
/// - The schemes group, actnn, gact and division group across rows and channels, as in the papers:
///   where these differ by decades, small ones have wrong gradients.
/// - The rotated codec loses precision when a group's mean exceeds about 10^4 standard deviations.
/// - A NaN or an infinity makes its group NaN; other groups are right.
/// - Second derivatives take the decoded tensors. Activations, attention and log_softmax refuse
///   them.
/// - In place: codes are of the value that was saved, so a later change does no harm. A change that
///   the version counter misses, as through data(), is detected on a CPU only, and only if large.
///   An activation in place, until it is decided, holds its result (elu, celu, selu) or a copy of
///   its input (others).
///
/// **Bytes and time**
/// - What several operations save is stored once. What the caller holds too has its codes on top.
/// - Bits are whole numbers at every site. They are allocated by errors measured at a site's first,
///   second, third, fifth, ... and every 256th tensor. Only there the host waits for a CUDA device.
/// - Elements far greater than the rest of their group (masks, padding, outliers) are stored apart,
///   exactly, on a CPU.
/// - Random numbers come from the compressor's own stream, by the seed of torch's default
/// generator,
///   random_stream() and the number of forwards. That generator is not advanced: dropout draws as
///   without a scope.
class Compressor {
 public:
  /// Throws c10::Error naming the option and what is accepted.
  explicit Compressor(CompressorOptions options = {});
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  const CompressorOptions& options() const;

  /// Gives parameters their names, for rules and the report: name(model->named_parameters()). Call
  /// it again after a cast of the model or a move to another device. No tensor is held.
  Compressor& name(const torch::OrderedDict<std::string, at::Tensor>& parameters);

  /// Has the function say which module runs, for the report, where an operation takes no parameter
  /// that has a name, as a softmax or a product. It is asked for every such tensor, so leave it out
  /// after one forward: sites keep what they were told. Empty: not known. It must not compute with
  /// tensors. nullptr: nobody is asked.
  ///
  /// ```cpp
  /// std::string running;  // forward sets it: "encoder.0.attention"
  /// compressor.name_by([&] { return running; });
  /// ```
  Compressor& name_by(std::function<std::string()> running_module);

  /// Draws random numbers from another stream from the next forward on; 0 is the first one.
  /// Processes that train copies of one model on different data take their ranks: errors of codes
  /// are then independent, and fall as gradients are averaged. The same torch seed, stream and
  /// number of forwards give the same codes. In Python it is the rank in torch.distributed.
  Compressor& random_stream(int64_t stream);

  /// Sets bits, 1 to 8, for what matching operations save. A pattern is the name of an operation
  /// ("aten::addmm", "addmm") or of a parameter that it takes ("encoder.layers.0.*"); * stands for
  /// any characters. The latest matching rule counts. Rules also apply to operations that are left
  /// alone by default; operations that divide have to be named without *.
  ///
  /// ```cpp
  /// compressor.rule("encoder.layers.0.*", fewbit::Bits{4}).leave_alone("aten::bmm");
  /// ```
  ///
  /// An activation has the names of libtorch's operation ("aten::silu"), of its function and its
  /// aliases ("silu", "swish"), "fewbit::activation", and "encoder.layers.0.silu" in the module of
  /// the layer that feeds it ("encoder.layers.0.linear1"). sigmoid, tanh, softplus and logsigmoid
  /// have to be named in full.
  Compressor& rule(const std::string& pattern, Bits bits);
  /// Stores matching tensors as torch::kBFloat16, kFloat8_e4m3fn or kFloat8_e5m2, rounded to
  /// nearest, outside of the budget. Doubles and tensors of that size or less stay exact. A
  /// matching activation runs as libtorch's own.
  Compressor& rule(const std::string& pattern, at::ScalarType type);
  /// Matching tensors stay exact; matching activations run as libtorch's own.
  Compressor& leave_alone(const std::string& pattern);
  /// Offloads matching tensors uncompressed until backward, as the option `offload` does codes,
  /// with or without that option. They do not count against the bit budget. In forward the copy
  /// that leaves takes memory besides.
  Compressor& offload_exact(const std::string& pattern);

  /// Sets when tensors of one kind are recomputed from other saved tensors instead of being coded.
  /// kind: one of these, or * for all:
  ///   copy        the same numbers, all times one number, or plus a layer's bias
  ///   norm        a norm's output, from its input
  ///   relu        relu's or leaky_relu's output, from its input and the stored signs
  ///   sign        relu's signs, from a norm's codes (of the scheme blpa)
  ///   dropout     dropout's output, from its input and the stored mask
  ///   sum         the sum of two tensors that both come back, as behind a residual branch
  ///   activation  any other activation's output, from its input
  ///   linear      a linear layer's output, from its input, as queries, keys and values: costs the
  ///               layer's product once more, in a chain of layers twice more
  ///   softmax     the probabilities that log_softmax saves, from its input
  ///   cast        what autocast makes of a weight, from the weight: exact. Where the weight is
  ///               changed between forward and backward, backward throws, as without autocast
  /// Kinds combine, up to sixteen steps and two products: with `linear` and `norm`, queries come
  /// from the norm's input. Weights are the model's parameters, frozen ones if name() told them; a
  /// weight that changes before backward is an error. Default: where_better for copy, norm, relu,
  /// dropout and sum (scheme blpa: always, with sign, without sum; other papers' schemes: never),
  /// where_better for cast, never for the others. `linear` and `activation` save much for their
  /// time (docs/guide.md); softmax is biased.
  Compressor& recompute(const std::string& kind, Recompute when);

  /// Stores each site as the plan chose (memory_plan.hpp), whatever rules, `recompute` and the
  /// budget say. Sites that the plan does not name are stored as ever.
  Compressor& follow(const MemoryPlan& plan);

  /// One saved tensor of one place in the model.
  struct Site {
    std::string operation;  ///< "aten::addmm"
    int argument = 0;       ///< of the operation; -1: a result
    int64_t call = 0;       ///< number of this call within a forward, from 0
    /// Whose parameters it takes, or within which it runs, as name_by says: "encoder.layers.0".
    /// Empty: unknown.
    std::string module;
    StoredAs stored;              ///< the latest tensor
    int64_t count = 0;            ///< tensors so far
    int64_t elements = 0;         ///< of the latest
    int64_t bytes_before = 0;     ///< of the latest, exact
    int64_t bytes_after = 0;      ///< of the latest, in the device's memory
    int64_t bytes_offloaded = 0;  ///< of the latest, elsewhere
    /// Of the directions of its channels, which stay from step to step. bytes_after counts those
    /// that the latest tensor was coded by.
    int64_t bytes_of_directions = 0;
    /// Squared error over the tensor's energy, when last measured; 0: exact. Of a table: over the
    /// derivative's energy, for inputs from N(0, 1).
    double error = 0.0;
    /// Median over groups of 256 elements of each group's squared error over its own energy. Shows
    /// an error that a few large elements hide. An estimate where the tensor is recomputed.
    double median_error = 0.0;
    /// "aten::addmm of encoder.layers.0.linear1, argument 1, call 4".
    std::string name() const;
  };
  /// In the order in which they were first seen.
  std::vector<Site> sites() const;

  /// What one kind of operation saved exactly in the latest forward, parameters not included, in
  /// memories of 4 KiB and more.
  struct LeftAlone {
    std::string operation;  ///< "aten::mkldnn_rnn_layer"
    std::string reason;     ///< "oneDNN's layer reads a layout of its own"
    int64_t count = 0;      ///< memories
    int64_t bytes = 0;      ///< of all of them, each counted once
  };
  std::vector<LeftAlone> left_alone() const;

  /// sites() and left_alone() as tables for a person, with totals, a bound on how much better
  /// another allocation of bits could be, and the peak of the latest step of this compressor that
  /// peak_bytes (peak_bytes.hpp) measured.
  std::string report() const;

  /// Writes sites, their bits and the number of forwards as text (docs/files.md). After load, with
  /// torch's generator in the same state, a run continues bit for bit. Rules and options are not in
  /// the file. Throws c10::Error naming the file; load refuses a file that was changed or cut.
  void save(const std::string& path) const;
  void load(const std::string& path);

 private:
  friend class CompressionScope;
  friend class session::MemoryPlanner;
  std::shared_ptr<session::Compression> compression_;
};

/// Compresses what this thread's operations save for backward while it lives, and runs activations
/// as an ActivationScope does. One scope spans one forward: sites are counted and bits allocated by
/// it. Scopes nest; the innermost one that codes a tensor stores it.
///
/// ```cpp
/// fewbit::Compressor compressor({.bits = 2});
/// for (int step = 0; step < 3; ++step) {
///   optimizer.zero_grad();
///   {
///     fewbit::CompressionScope scope(compressor);
///     loss = model->forward(x);
///   }
///   loss.backward();
///   optimizer.step();
/// }
/// ```
class CompressionScope {
 public:
  /// Throws c10::Error where the process runs another autograd engine than libtorch's or Python's,
  /// or where hooks on saved tensors are disabled.
  explicit CompressionScope(Compressor& compressor);
  ~CompressionScope();
  CompressionScope(const CompressionScope&) = delete;
  CompressionScope& operator=(const CompressionScope&) = delete;

 private:
  std::shared_ptr<session::PolicyStack> stack_;  ///< of the thread that opened it
  std::shared_ptr<session::CompressionUser> user_;
  std::unique_ptr<session::SavedTensorUse> use_;
  std::unique_ptr<session::CompressionPolicy> policy_;
};

/// Saved bytes of one forward and the peak of a step, exact and with several budgets.
struct BudgetPreview {
  struct Row {
    double bits;    ///< 0: exact
    int64_t bytes;  ///< of all saved tensors, parameters not included
    int64_t peak;   ///< bytes, of forward and backward, as peak_bytes counts (peak_bytes.hpp)
  };
  std::vector<Row> rows;
  std::string sites;  ///< report() with the bits of the options

  /// A table for a person.
  std::string text() const;
};

/// Measures what one step would take with 1, 1.5, 2, 3, 4 and the options' bits on average:
///
/// ```cpp
/// std::cout << fewbit::preview_budgets([&] { return model->forward(x); }, {.bits = 2}).text();
/// ```
///
/// Runs `forward` and a backward twice for each budget: the first run measures errors, by which
/// bits of the second are allocated; the peak is the higher one. Budgets that the scheme does not
/// take are left out. Gradients are dropped; torch's default generator and buffers such as running
/// means advance as in any forward. parameters: names modules in the report, as Compressor::name
/// does. Throws c10::Error while a torch profiler records this thread.
BudgetPreview preview_budgets(const std::function<at::Tensor()>& forward,
                              const CompressorOptions& options = {},
                              const torch::OrderedDict<std::string, at::Tensor>& parameters =
                                  torch::OrderedDict<std::string, at::Tensor>());

}  // namespace fewbit
