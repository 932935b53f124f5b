#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "codecs/codec.hpp"
#include "compression/operators/recipe.hpp"
#include "compression/operators/save_policy.hpp"
#include "trace/running_operations.hpp"

// What is known of operations: one file a family, whose operators register themselves.
namespace fewbit::session {

/// Operations of ours that run in the place of libtorch's while a scope is open.
inline constexpr std::string_view kActivation = "fewbit::activation",
                                  kLogSoftmax = "fewbit::log_softmax",
                                  kAttention = "fewbit::attention";

/// What an operation does to an error of its input, where that input's own gradient was multiplied
/// element by element by something that is coded.
enum class Effect {
  passes,    ///< what takes its result decides
  sums,      ///< over many elements: their gradients do not grow as one of them falls to 0
  selects,   ///< sums, and its gradients go to few elements of many
  reduces,   ///< sums where few rows are left of many elements, else passes
  roots,     ///< of such a sum: sums there, else divides
  divides,   ///< by it, as logarithms and roots do: no error is small
  raises,    ///< to a power, which divides where the exponent is below 1
  curves,    ///< has a derivative that changes from element to element,
  steepens,  ///< by orders of magnitude, or takes the least of many
};

struct Operator;

/// The arguments of a call, or its results, by their names in libtorch's schema.
class NamedArguments {
 public:
  NamedArguments(const Operator& of, const std::vector<c10::IValue>& values)
      : of_(of), values_(values) {}

  /// Whether the call has as many arguments as there are names: overloads may have others.
  bool fit() const;
  /// Throws c10::Error for a name that the operator does not have.
  const c10::IValue& operator[](std::string_view name) const;
  /// Undefined where the argument is none.
  at::Tensor tensor(std::string_view name) const;

 private:
  const Operator& of_;
  const std::vector<c10::IValue>& values_;
};

/// What a call that has ended was, without its graph.
struct EndedCall {
  NamedArguments arguments;
  const std::vector<c10::IValue>& results;
  const Beside& beside;

  at::Tensor result(size_t i) const { return results[i].toTensor(); }
};

/// How a call's first result is recomputed.
struct Recomputation {
  std::optional<Recipe> (*recipe)(const EndedCall& call) = nullptr;  ///< null: not at all
  std::vector<std::string_view> copies = {};  ///< arguments that are the model's, and small
  std::string_view weight = {};               ///< one that is the model's: Recipe::by_weight
  bool in_place_too = false;
  std::string_view kind = {};    ///< of all its recipes; empty: each names its own
  std::string_view addend = {};  ///< one that is added to the first, and may come back too
};

/// What a saved argument is stored by.
struct SavedArgument {
  std::string_view argument;
  SavePolicy policy;
};
/// In the place of an argument's name: whichever, and the results.
inline constexpr std::string_view kAny = "*", kResult = "";

/// What gradients of an operation's output tell of errors of what it saves.
enum class Sensitivity { none, layer, loss };

/// One operation. What it leaves out is not so of it.
struct Operator {
  std::string_view name = {};                    ///< "addmm"; in place too
  std::string_view library = "aten";             ///< empty: a function of autograd's in Python
  std::vector<std::string_view> arguments = {};  ///< by schema, as far as any is read here

  // What it saves.
  std::vector<SavedArgument> saves = {};  ///< the first that fits counts
  /// By its arguments. None: by `saves`.
  std::optional<SavePolicy> (*policy)(const SaveEvent& event) = nullptr;
  bool holds_arguments = false;  ///< until it has ended: the following read them
  bool saves_late = false;       ///< its inputs, once the function that takes them has run
  bool has_channels = false;     ///< takes [N, C, ...], a map of each channel
  bool reads_pieces = false;     ///< its backward takes its input so (pieces/piecewise.hpp)
  /// Of a norm: over what, with which weights; what it saves of its input once it has ended.
  std::optional<codecs::Norm> (*norm)(const NamedArguments& arguments,
                                      int64_t dimensions) = nullptr;
  std::optional<codecs::Statistics> (*statistics)(const NamedArguments& arguments,
                                                  const std::vector<at::Tensor>& results) = nullptr;
  /// Of integers that it saves.
  codecs::CodecPointer (*integers)(const NamedArguments& arguments) = nullptr;

  // How what it gives, or saves, is recomputed.
  Recomputation recomputation = {};
  std::optional<Recipe> (*recipe_of_saved)(const SaveEvent& event) = nullptr;

  // What it does to errors.
  Effect effect = Effect::passes;
  std::string_view divisor = {};       ///< the argument that it divides by
  std::string_view first_factor = {};  ///< of two adjacent arguments that it multiplies
  bool sums_products = false;          ///< of one argument with another, as of a vector
  bool turns_often = false;            ///< or chooses: an error of the input leads to another turn
  bool is_choice = false;              ///< its result is what a program decides by
  bool is_norm_of_channels = false;
  bool sums_to_one = false;  ///< its result does, over the dimension that is the argument "dim"
  bool is_scaling = false;   ///< by a number, or shows the same in another shape

  // What gradients tell of errors.
  Sensitivity sensitivity = Sensitivity::none;
  /// Elements of the input that one element of the output is a sum over; null: of a row.
  double (*fan_in)(const NamedArguments& arguments) = nullptr;

  /// Whether the first result of its call by that name is recomputed.
  bool is_recomputed(std::string_view operation) const;
  /// The place of an argument, by its name.
  size_t place_of(std::string_view argument) const;
};

/// Adds the operators of a family, before any is looked up: a static object of the family's file.
class OperatorFamily {
 public:
  OperatorFamily(std::initializer_list<Operator> operators);
  explicit OperatorFamily(const std::vector<Operator>& operators);
};

/// Operators of these names, all of which are as the example.
std::vector<Operator> alike(std::initializer_list<std::string_view> names, const Operator& example);

/// Null for one that is not known. "aten::log_softmax" and "log_softmax_" are like
/// "fewbit::log_softmax", but not it.
const Operator* find_operator(std::string_view operation);
const Operator* find_operator_like(std::string_view operation);

/// All that are known, in no order.
std::vector<const Operator*> all_operators();

/// "log" of "aten::log_".
std::string_view plain_name(std::string_view operation);
/// Without what says that it works in place.
std::string_view base_name(std::string_view operation);

// What they say of a call, and of what it saves.

/// Of what an operation saves. What is not known, custom functions among them, is left alone;
/// parameters are, with their views and casts, and what no gradient runs through, but for what
/// dropout draws.
SavePolicy save_policy_of(const at::Tensor& tensor, const SaveEvent& event);

/// Of the input of a checkpoint.
SavePolicy save_policy_of_checkpoint();

/// Whether it is an activation of libtorch's.
bool is_activation(std::string_view operation);
/// Whether it is known to be none, nor to run one.
bool saves_no_classes(std::string_view operation);

/// Why what an operation saves is left alone, for a report.
std::string reason_left(const at::Tensor& tensor, const SaveEvent& event);

/// Whether it is of a floating-point type, and none of those.
bool may_take_bits(const at::Tensor& tensor, const SaveEvent& event);

/// Whether it is [N, C, ...], a map of each channel, as a convolution or a batch norm takes it.
bool has_channels(const SaveEvent& event);

/// Whether its backward takes what it saves a few rows at a time.
bool reads_pieces(std::string_view operation);

/// The norm that saves its input, whose arguments are held: of a batch, in training, of a layer or
/// of groups. None where it is another operation.
std::optional<codecs::Norm> norm_of(const SaveEvent& event);

/// What a norm that has ended saves of its input. None where it is another operation, or saves
/// nothing.
std::optional<codecs::Statistics> statistics_of(const RecordedCall& norm);

/// The dimension over which what an operation saves of its result sums to 1; none: it does not.
std::optional<int64_t> normalized_dimension(const SaveEvent& event);

/// What codes the integers that an operation saves, a pooling whose arguments are held as a rule.
codecs::CodecPointer codec_of_integers(const SaveEvent& event);

/// Whether arguments of such calls are to be held until they have ended.
bool needs_arguments(std::string_view operation);
/// Whether it saves its inputs once the function that takes them has run.
bool saves_late(std::string_view operation);

/// The mask of which fewbit::attention saves a copy.
at::Tensor mask_of_attention(const SaveEvent& event);

/// Whether the first result of such calls, or what they save, may be recomputed.
bool may_be_recomputed(std::string_view operation);

/// The recipe for what a running operation saves that nobody else sees.
std::optional<Recipe> recipe_of_saved(const SaveEvent& event);

}  // namespace fewbit::session
