#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/ordered_dict.h>

/// Linear layers that save a random projection S X instead of their input X. The gradient of their
/// weight is estimated from it: dW = (S dY)^T (S X).
///
/// X has R rows, one for each vector of features in the batch; S has p rows. The mean of S^T S is
/// the identity, so the mean of dW is torch's dW. dX and db are torch's. S itself is never saved:
/// it is drawn at every call, and once more in backward from one saved number.
///
/// The deviation of dW falls with the root of p alone. A Compressor's codes have a far lower error
/// in the same number of bytes.
///
/// Source: Bershatsky, Mikhalev, Katrutsa, Gusak, Merkulov and Oseledets, Memory-efficient
/// backpropagation through large linear layers, 2022.
namespace fewbit {

/// How S is drawn. Formulas give the variance of dW, summed over its elements, with Y = dY. Rows of
/// X and Y are x_i and y_i; those of their transforms are x'_k and y'_k.
enum class Projection {
  /// Normal numbers: (|X|^2 |Y|^2 + |X^T Y|^2) / p.
  gaussian,
  /// Signs: (|X|^2 |Y|^2 + |X^T Y|^2 - 2 sum_i |x_i|^2 |y_i|^2) / p.
  rademacher,
  /// Rows drawn from the cosine transform of X with random signs, about that of `gaussian`:
  /// (R sum_k |x'_k|^2 |y'_k|^2 - |X^T Y|^2) / p.
  dct,
  /// Rows drawn from X, with replacement: (R sum_i |x_i|^2 |y_i|^2 - |X^T Y|^2) / p.
  rows
};

/// Options of randomized_linear and RandomizedLinearScope.
struct RandomizedLinearOptions {
  /// Share of rows that is stored, p / R: above 0, at most 1. p is rounded up. With 1 everything is
  /// exact.
  double keep = 0.2;
  Projection projection = Projection::rademacher;
};

/// Computes torch::linear(x, weight, bias) and saves S X instead of x.
///
/// ```cpp
/// const at::Tensor y = fewbit::randomized_linear(x, weight, bias, {.keep = 0.2});
/// ```
///
/// x: float, double, bfloat16 or half, of shape [..., in]. weight: [out, in]. bias: [out], or
/// undefined (the default). Under autocast the types are those of torch's linear.
///
/// Of x it saves S X alone: [p, in], in x's type, computed in float32 or double. Calls torch's
/// linear where p is not below R, and where the weight requires no gradient.
///
/// gaussian and rademacher project blocks of at most 512 rows by themselves, to the same number of
/// rows each. Therefore the cost of a row does not grow with the batch. The formulas hold within
/// blocks, and p is rounded up in each.
///
/// Cost, on top of a linear layer's own products:
/// - gaussian and rademacher: at most 512 keep (in + out) multiply-adds and 512 keep random numbers
///   for each row of X. The numbers take most of gaussian's time.
/// - dct: a real Fourier transform of length R for each column of X and of dY.
/// - rows: nothing.
///
/// The seed is one draw from the default generator of x's device; the host does not wait for it.
///
/// Throws c10::Error where `keep` is not above 0 and at most 1, where torch's linear does, and in
/// forward-mode differentiation. Double backward throws too.
at::Tensor randomized_linear(const at::Tensor& x, const at::Tensor& weight,
                             const at::Tensor& bias = {},
                             const RandomizedLinearOptions& options = {});

namespace session {
class PolicyStack;
class RandomizedLinearPolicy;
}  // namespace session

/// Runs linear layers of an unchanged model as randomized_linear while it lives, on this thread.
///
/// ```cpp
/// fewbit::RandomizedLinearScope scope({.keep = 0.2});
/// loss = model->forward(x);
/// ```
///
/// Covers torch::nn modules, functional calls and TorchScript: calls of torch's linear, and
/// products with a parameter of two dimensions. A CompressionScope does not code what this scope
/// stores.
///
/// Scopes nest. Calls that this scope does not handle fall through to the enclosing scope. Calls
/// that an inner ActivationScope or CompressionScope does not handle reach this one.
///
/// **Left alone**
/// - Layers whose weight is frozen: torch saves no input for these.
/// - Layers whose input gets no gradient, such as a batch: the program holds it anyway.
/// - Layers whose input has no more rows than would be stored.
/// - Tensors that an ActivationScope does not take.
///
/// An input that something else saves too, such as another layer or a relu before it, takes its
/// memory on top of S X.
class RandomizedLinearScope {
 public:
  /// Throws c10::Error where `keep` is not above 0 and at most 1.
  explicit RandomizedLinearScope(RandomizedLinearOptions options = {});
  ~RandomizedLinearScope();
  RandomizedLinearScope(const RandomizedLinearScope&) = delete;
  RandomizedLinearScope& operator=(const RandomizedLinearScope&) = delete;

  /// Gives parameters their names, for entries: name(model->named_parameters()). Holds no tensor.
  RandomizedLinearScope& name(const torch::OrderedDict<std::string, at::Tensor>& parameters);

  /// Calls of one layer with one outcome.
  struct Entry {
    std::string layer;    ///< its weight's name, or "[out, in]"
    std::string outcome;  ///< "rademacher", or why it was left alone
    bool taken;
    int64_t calls;
    int64_t rows;  ///< R of the latest call
    int64_t kept;  ///< p of the latest call; 0: left alone
  };
  /// What met this scope, in the order in which it was first met.
  std::vector<Entry> entries() const;
  /// entries() as a table for a person.
  std::string report() const;

 private:
  std::shared_ptr<session::PolicyStack> stack_;  ///< of the thread that opened it
  std::unique_ptr<session::RandomizedLinearPolicy> policy_;
};

}  // namespace fewbit
