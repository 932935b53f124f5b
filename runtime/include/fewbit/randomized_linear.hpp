#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/ordered_dict.h>

/// Linear layers that keep a random projection of their input for their weight's gradient:
/// dW = (S dY)^T (S X), where S has p rows and X one for every element of a batch, R in all. Its
/// mean is torch's dW, since that of S^T S is the identity; dX and db are torch's. S is drawn anew
/// at every call and again in backward, from one number that is kept beside S X.
/// Its deviation falls with the root of p alone: in as many bytes a Compressor's codes err far
/// less. (Bershatsky, Mikhalev, Katrutsa, Gusak, Merkulov and Oseledets, Memory-efficient
/// backpropagation through large linear layers, 2022.)
namespace fewbit {

/// S, and the variance of dW, summed over its elements, of rows x_i of X and y_i of dY:
enum class Projection {
  gaussian,    ///< normal numbers: (|X|^2 |Y|^2 + |X^T Y|^2) / p
  rademacher,  ///< signs: (|X|^2 |Y|^2 + |X^T Y|^2 - 2 sum_i |x_i|^2 |y_i|^2) / p
  dct,         ///< rows drawn out of the cosine transform of X with random signs:
        ///< (R sum_k |x'_k|^2 |y'_k|^2 - |X^T Y|^2) / p of transformed ones; about `gaussian`
  rows  ///< rows drawn out of X, with replacement: (R sum_i |x_i|^2 |y_i|^2 - |X^T Y|^2) / p
};

struct RandomizedLinearOptions {
  double keep = 0.2;  ///< p / R, above 0 to 1; p is rounded up. At 1 everything is exact
  Projection projection = Projection::rademacher;
};

/// torch::linear(x, weight, bias): x [..., in] of float, double, bfloat16 or half, weight [out,
/// in], bias [out] or undefined. Of x nothing is kept but S X, [p, in] in x's type, computed in
/// float32 or double; where p is not below R, and where the weight asks for no gradient, it is
/// torch's own call. Under autocast types are those of torch's.
///
/// gaussian and rademacher project blocks of at most 512 rows by themselves, with as many rows
/// each, so that the cost of a row does not grow with the batch: the formulas hold within blocks,
/// and p is rounded up in each. Costs beside the three products of a linear layer, in + out and out
/// of them a row of X: rademacher and gaussian 512 keep (in + out) at most, and 512 keep random
/// numbers, which costs most of gaussian's time; dct two real Fourier transforms of length R; rows
/// nothing.
///
/// The seed is one draw of the default generator of x's device, which nothing waits for. Throws
/// c10::Error for other shares, and as torch does; in double backward, which is refused as
/// forward-mode differentiation is.
at::Tensor randomized_linear(const at::Tensor& x, const at::Tensor& weight,
                             const at::Tensor& bias = {},
                             const RandomizedLinearOptions& options = {});

namespace session {
class PolicyStack;
class RandomizedLinearPolicy;
}  // namespace session

/// While it lives, linear layers of an unchanged model do that on this thread:
///
///   fewbit::RandomizedLinearScope scope({.keep = 0.2});
///   loss = model->forward(x);
///
/// torch::nn modules, functional calls and TorchScript alike: calls of torch's linear, and products
/// with a parameter of two dimensions. Other calls go on to the scopes around it, and the ones that
/// an ActivationScope or CompressionScope inside of it does not know come to it. What it keeps is
/// no longer coded by a CompressionScope.
///
/// Left alone: layers whose weight is frozen, of which torch keeps no input; whose input gets no
/// gradient, as a batch, which the program holds anyway; whose input has no more rows than would be
/// kept; and tensors that an ActivationScope leaves alone. An input that something else keeps too,
/// another layer or a relu before, is kept beside S X as before.
class RandomizedLinearScope {
 public:
  /// Throws c10::Error where `keep` is not above 0 and at most 1.
  explicit RandomizedLinearScope(RandomizedLinearOptions options = {});
  ~RandomizedLinearScope();
  RandomizedLinearScope(const RandomizedLinearScope&) = delete;
  RandomizedLinearScope& operator=(const RandomizedLinearScope&) = delete;

  /// Tells the names of parameters for entries: name(model->named_parameters()). Holds none.
  RandomizedLinearScope& name(const torch::OrderedDict<std::string, at::Tensor>& parameters);

  /// What met this scope, by weight and outcome.
  struct Entry {
    std::string layer;    ///< its weight's name, or "[out, in]"
    std::string outcome;  ///< "rademacher", or why it was left alone
    bool taken;
    int64_t calls;
    int64_t rows;  ///< R of the latest call
    int64_t kept;  ///< p of it; left alone: 0
  };
  std::vector<Entry> entries() const;
  /// The same as a table for a person.
  std::string report() const;

 private:
  std::shared_ptr<session::PolicyStack> stack_;  ///< of the thread that opened it
  std::unique_ptr<session::RandomizedLinearPolicy> policy_;
};

}  // namespace fewbit
