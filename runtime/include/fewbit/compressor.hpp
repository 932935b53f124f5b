#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/csrc/api/include/torch/ordered_dict.h>

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

/// How the tensors are coded that operations keep for backward.
enum class Scheme {
  rotated,  ///< turned at random, then the best table for what comes out; where it is better equal
            ///< steps, and for probabilities their squares, rounded at random. Of what a few-bit
            ///< activation gave, behind a dropout or a pooling too, and of the input of a norm
            ///< before it, what is left once its codes are known, which are kept anyway
  group,    ///< equal steps between a group's least and greatest, rounded at random
  actnn,    ///< the same, as ActNN's levels spend its bits (Chen et al., ActNN, ICML 2021): level
  gact,     ///< the same, as GACT's levels do (Liu et al., GACT, ICML 2022): level. What its probes
            ///< find in passes of their own is here measured in the backward passes that there are:
            ///< what an error does to the gradients of the layer's own weights, not to those of
            ///< layers before, which matters for inputs of norms; of the loss's probabilities to
            ///< those of all layers; others count as the typical one
  division,  ///< inputs of convolutions, batch and group norms as means of blocks and `bits` for
             ///< what is left, equal steps between each channel's least and greatest; others as by
             ///< group (Wang et al., DIVISION, 2022). As many bits, whole ones, everywhere
  blpa  ///< inputs of norms in equal bins of what the norms make of them, and that once for norm,
        ///< relu and the layer behind (Chakrabarti and Moseley, NeurIPS 2019); what is no such
        ///< input and cannot be derived of one as by group. 2, 4 or 8 bits, the same everywhere.
        ///< A relu that takes what such a norm gives reads its signs from the codes, others keep
        ///< one bit more
};

/// Whether a tensor is computed again in backward, out of another one's codes, instead of coded.
enum class Derive {
  never,
  where_better,  ///< where that errs less, with its bits given to the codes that it comes of
  always         ///< wherever it is possible
};

struct CompressorOptions {
  double bits = 2;  ///< the average of all elements that take bits of the budget: 1 to 8
  Scheme scheme = Scheme::rotated;
  /// Of the schemes actnn and gact; none: 3 and 2. 0: nothing is coded.
  /// actnn  1: 4 bits, norms' inputs left alone. 2: 4 bits. 3: `bits` on average, split over places
  ///        by the energies of their outputs' gradients, which backward passes measure, and at each
  ///        place over samples by the squares of their ranges. 4: the same, and swap. 5: the same,
  ///        and where there is a CUDA device torch's allocator is asked, for the whole process, for
  ///        segments that grow (expandable_segments), unless PYTORCH_ALLOC_CONF names these
  /// gact   1: `bits`, whole ones. 2: `bits` on average, split over places by the same energies
  std::optional<int> level = {};
  int64_t block = 8;  ///< of the scheme division: elements a side of a mean, above 0
  /// Bits of the codes of an activation's derivative, 1 to 8. None: the least in which the squared
  /// error of its table, for inputs from N(0, 1), is a sixteenth of that of the other codes: 3 for
  /// GELU and SiLU beside 2 bits, 8 beside 8.
  std::optional<int> activation_bits = {};
  /// Of all that is coded in a forward, instead of bits, which then hold for the first forward
  /// alone; 0: none. From the second one on no more is kept, or one bit of each element, but
  /// where a forward has more elements than all before, or places that none had: by as much more,
  /// that once.
  int64_t bytes = 0;
  int64_t group = 256;  ///< elements that share a mean and a factor: 64, 128, 256, 512 or 1024
  int trellis = 0;  ///< states of a trellis that picks codes of 1 to 4 bits: 4, 8; 0: none. With 4
                    ///< errors are a quarter less, and coding takes twice the time
  /// What is coded leaves the device's memory until backward, but for tensors of less than 4 KiB: a
  /// GPU's to pinned memory of the host, by a stream of its own and back ahead of its use; a CPU's
  /// to a file in the folder that TMPDIR names, which is no larger than what is away at a time.
  /// Gradients are the same. Where the file cannot be made or written, a forward or backward throws
  /// c10::Error once, naming the folder; from then on what would leave stays.
  bool swap = false;
  /// What a backward pass decodes or computes again and comes back to may stay until then, the
  /// latest up to so many bytes of each model; 0: it is decoded for every use. Gradients are the
  /// same.
  int64_t held_bytes = 0;
};

/// Keeps in few bits what the operations of a model keep for their backward pass, whatever they
/// are, in a model that was not changed:
///
///   fewbit::Compressor compressor({.bits = 2});
///   { fewbit::CompressionScope scope(compressor); loss = model->forward(x); }
///   loss.backward();
///   std::cout << compressor.report();
///
/// What is kept how (the list: compression/rules.cpp):
/// - inputs of linear layers, convolutions, products, squares and norms: out of the budget, by the
///   codec that errs least there; of a norm after means and deviations, which it keeps anyway, are
///   taken out, and of factors after the root mean squares of what a factor beside them scales, or
///   of columns, where these are unlike;
/// - queries, keys and values of attention, which runs again in backward: with more bits; so
///   probabilities of softmax, those of log_softmax like any input but exact the greatest of each
///   row, where it errs less rounded at random between levels at the squares of equal steps;
/// - masks of attention as they were in the forward: those of bool in a bit an element, others in a
///   copy, once for all layers that take the same tensor;
/// - inputs of checkpoints (checkpoint.hpp), which run again too: with as many bits as queries,
///   unless the function divides or chooses by them;
/// - activations by few-bit derivatives, relu in 1 bit, exact. Tables err beside a derivative of 1:
///   where all inputs lie far out, at -8, so do the small gradients there. sigmoid, tanh, softplus
///   and logsigmoid stay libtorch's own unless a rule names them: their derivatives fall to 0, and
///   a loss such as binary_cross_entropy(sigmoid(x)) divides by them;
/// - squares, probabilities of softmax, inputs of elu, celu and checkpoints are held as they are as
///   long as somebody holds a result of theirs, factors of products, inputs of gelu, silu, mish,
///   hardswish and selu until a layer or a sum takes the result: where a logarithm, a root or a
///   quotient by it takes it meanwhile, as in log(x^2 + eps) or log(elu(x) + 1), they stay so
///   ("exact, divided by"), and the former where the scope ends meanwhile ("exact, of a result").
///   So stay squares that more than one number weighs, as (y - t)^2 / var, and probabilities beside
///   what has a gradient, as p log p. Of more than 64 that wait, the oldest is decided.
///   Not seen are a logarithm in another thread, that of a layer's result, and that of a product,
///   or of an activation other than elu and celu, behind a sum or the scope's end:
///   leave_alone("pow"), "mul", "_softmax" or "elu" keeps it exact there. In place elu, celu and
///   selu keep their result then, as libtorch does, others a copy of their input, which is made
///   before;
/// - dropout's masks in 1 bit, places of pooling in as few as hold them, nothing of tensors that
///   backward reads the sizes of: exact.
///
/// Left alone: tensors of fewer than 1,024 elements, parameters with their views, casts and copies
/// (clone, contiguous, repeat, cat and stack of parameters alone), data that no gradient runs
/// through (the batch, frozen weights), what other operations and custom functions save, and what
/// is saved within a backward pass. What several operations keep is coded once; of what the caller
/// holds as well, as a list of hidden states, the codes come on top. Forward values are those of
/// the ActivationScope, gradients are estimates whose mean is theirs where they are linear in what
/// is kept. Codes are of the value that was saved: changing a tensor in place afterwards harms
/// nothing. A second derivative takes what was decoded for what was saved; activations, attention
/// and log_softmax refuse it.
///
/// On CUDA the host waits for the device where errors are measured, and nowhere else. Changes of a
/// saved tensor's contents that its version does not tell, as by data(), are seen on a CPU alone,
/// and where they are many.
///
/// Groups of the schemes group, actnn, gact and division run across a norm's rows and channels, as
/// their papers' do: where these are unlike by decades, small ones have wrong gradients. The
/// default scheme takes means and deviations out before.
///
/// A NaN or an infinity makes its whole group NaN, other groups are right. Means that are 10^4
/// times the deviation cost rotation its precision. Elements that are far greater than the others
/// of their group, as masks, padding and outliers put them in, are kept apart exactly, on a CPU.
///
/// Bits are whole ones at every place, split so that their average is what was asked for, by errors
/// measured at a place's first, second, third, fifth, ... and every 64th tensor. A tensor that can
/// be computed again of what another one's codes hold is not coded where the gradient gains from
/// its bits there (derive); it counts as an element that takes bits all the same. Random numbers
/// are the compressor's own, by the seed of torch's default generator and the number of forwards:
/// that generator is not advanced, so dropout draws what it draws without a scope.
///
/// One of each model; its scopes may be open in several threads.
class Compressor {
 public:
  explicit Compressor(CompressorOptions options = {});
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  const CompressorOptions& options() const;

  /// Tells the names of parameters as they are now (after a cast of the model, or a move to another
  /// device, they have to be told again), so that rules and the report can name places of the
  /// model: name(model->named_parameters()). Holds none of them.
  Compressor& name(const torch::OrderedDict<std::string, at::Tensor>& parameters);

  /// For what an operation keeps, by its name ("aten::addmm", "addmm") or by that of a parameter
  /// that it takes ("encoder.layers.0.*"); * stands for any characters. The latest rule that fits
  /// counts. A rule with bits or a type also holds for operations that would be left alone; what
  /// logarithms, roots and quotients keep has to be named without *.
  ///
  /// An activation has the names of libtorch's operation ("aten::silu"), of its function and of
  /// aliases ("silu", "swish"), "fewbit::activation", and "encoder.layers.0.silu" in the module of
  /// the layer whose output it takes ("encoder.layers.0.linear1"). sigmoid, tanh, softplus and
  /// logsigmoid have to be named in full for bits, by a name of their own. With a type, or left
  /// alone, an activation runs as libtorch's own, and what that keeps is meant.
  Compressor& rule(const std::string& pattern, Bits bits);
  /// Kept as torch::kBFloat16, kFloat8_e4m3fn or kFloat8_e5m2 instead, rounded to nearest, beside
  /// the budget. Doubles and what is that small already are left alone.
  Compressor& rule(const std::string& pattern, at::ScalarType type);
  Compressor& leave_alone(const std::string& pattern);
  /// What would take bits is kept as it is, but out of the device's memory until backward, as the
  /// option `swap` says of codes, beside the budget; with or without that option, and for
  /// operations, too, that would be left alone. In forward the copy that leaves comes on top.
  Compressor& swap_exact(const std::string& pattern);

  /// For a derivation, by its name, or * for all: how tensors come of others.
  ///   copy        the same numbers, all times one number, or with a layer's bias
  ///   norm        a norm's output of its input
  ///   relu        its output of its input and of the signs that are kept; leaky_relu's too
  ///   sign        the signs that relu keeps of a norm's output: of codes that keep them, which are
  ///               those of the scheme blpa
  ///   dropout     its output of its input and of the mask that is kept
  ///   sum         of two tensors that both come back, as behind a residual branch
  ///   activation  any other one's output of its input
  ///   linear      a linear layer's output of its input, as queries, keys and values: costs the
  ///               layer's product a second time, where layers follow each other a third
  ///   softmax     probabilities that log_softmax keeps of its input
  /// They build on each other, up to sixteen and two products: with `linear` and `norm` the queries
  /// come of the norm's input. Weights are the model's: parameters, and those that name() told if
  /// they are frozen; one that changes until backward is an error. copy, norm, relu, dropout
  /// and sum are taken where_better from the start (in the scheme blpa always, and sign, but for
  /// sum, in others of a paper never), others never: `linear` and `activation` bring much for their
  /// time (README), softmax is not linear.
  Compressor& derive(const std::string& name, Derive when);

  /// Keeps each place as the plan chose (memory_plan.hpp), whatever rules, `derive` and the budget
  /// say; places that it does not name are kept as ever.
  Compressor& follow(const MemoryPlan& plan);

  /// One tensor that one place of a model keeps.
  struct Site {
    std::string operation;  ///< "aten::addmm"
    int argument = 0;       ///< of it; -1: a result
    int64_t call = 0;       ///< the how many-th of a forward, from 0
    std::string module;     ///< "encoder.layers.0", whose parameters it takes; empty: not known
    /// "rotated, 2 bits"; "rotated by class, 2 bits", beside the codes of an activation; "few-bit
    /// table", those codes; "normalised, 2 bits", by means and deviations that a norm keeps;
    /// "derived: linear of norm" has no codes; "exact, kept anyway" by others; "exact, divided by";
    /// "exact, of a result".
    std::string codec;
    int64_t count = 0;         ///< how often it was coded so far
    int64_t elements = 0;      ///< of the latest
    int64_t bytes_before = 0;  ///< of the latest
    int64_t bytes_after = 0;   ///< of the latest, in the device's memory,
    int64_t bytes_away = 0;    ///< and where swap puts them
    /// Squared, over the tensor's energy, when last measured; 0: exact. Of an activation's table
    /// over the energy of the derivative, for inputs from N(0, 1).
    double error = 0.0;
    /// The median over groups of 256 elements of their own squared error over their own energy. It
    /// shows an error that a few large elements hide. Of a derived tensor it is an estimate.
    double median_error = 0.0;
    /// "aten::addmm of encoder.layers.0.linear1, argument 1, call 4".
    std::string name() const;
  };
  /// In the order in which they were met.
  std::vector<Site> sites() const;
  /// What the latest forward kept as it is, parameters aside, in memories of 4 KiB and more.
  struct LeftAlone {
    std::string operation;  ///< "aten::mkldnn_rnn_layer"
    std::string reason;     ///< "oneDNN's layer reads a layout of its own"
    int64_t count = 0;      ///< of memories,
    int64_t bytes = 0;      ///< together, each counted once
  };
  std::vector<LeftAlone> left_alone() const;
  /// Both as tables for a person, with totals, and how good the split of bits is at least.
  std::string report() const;

  /// Writes the places, their bits and the number of forwards as text. After load, and with torch's
  /// generator in the state of that moment, a run goes on bit for bit. Rules and options are the
  /// program's. Throws c10::Error naming the file.
  void save(const std::string& path) const;
  void load(const std::string& path);

 private:
  friend class CompressionScope;
  friend class session::MemoryPlanner;
  std::shared_ptr<session::Compression> compression_;
};

/// One forward, by which places are counted and bits split: while it lives, what operations of this
/// thread save for backward is coded, and activations run in an ActivationScope. Scopes nest; the
/// latest one that codes a tensor does.
class CompressionScope {
 public:
  /// Throws c10::Error where the process runs another autograd engine than libtorch's, or where
  /// hooks on saved tensors are disabled.
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

/// What one forward keeps for backward, exact and inside of scopes of several budgets.
struct CompressionPlan {
  struct Row {
    double bits;    ///< 0: exact
    int64_t bytes;  ///< of all that autograd keeps, parameters left out
  };
  std::vector<Row> rows;
  std::string sites;  ///< what is kept of what with the bits of the options

  /// A table for a person.
  std::string text() const;
};

/// By running `forward` twice for every budget: the first time errors are measured, by which bits
/// are split the second time. Budgets that the scheme does not take are left out. Nothing is
/// trained, no gradient computed; torch's default generator and buffers such as running means move
/// on as by any forward.
///
///   std::cout << fewbit::plan([&] { return model->forward(x); }, {.bits = 2}).text();
CompressionPlan plan(const std::function<at::Tensor()>& forward, CompressorOptions options = {});

}  // namespace fewbit
