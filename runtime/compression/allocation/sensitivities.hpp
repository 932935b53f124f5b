#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compression/operators/operator.hpp"
#include "compression/operators/site_key.hpp"

namespace fewbit::session {

/// Finds, in the backward pass itself, what errors of saved tensors do to the gradients: by the
/// energies of the gradients of what the operations give that saved them (Chen et al., ActNN, ICML
/// 2021, section 4.1). An error of what the loss saves is in the gradients of all layers. For one
/// forward.
class Sensitivities {
 public:
  /// Is told, in backward, the variance that a squared error as large as a tensor's energy would
  /// add to the gradients of the model, an element of the tensor.
  using Note = std::function<void(const SiteKey& site, double sensitivity)>;

  explicit Sensitivities(const Note& note) : note_(note), loss_(std::make_shared<Loss>(note)) {}

  /// Whether it is to hear of the ends of such calls.
  static bool follows(std::string_view operation);

  /// Whether what it saves is multiplied by gradients alone, to gradients of parameters.
  static bool is_layer(std::string_view operation);

  /// An operation that runs coded a tensor at a source.
  void add(const SiteKey& site, const at::Tensor& tensor, const SaveEvent& event,
           const SavePolicy& save_policy);
  void end_call(const RecordedCall& call);

 private:
  /// What was coded by an operation that has not ended.
  struct Coded {
    SiteKey site;
    double factor;    ///< of the energy of the gradient
    double elements;  ///< of the tensor
  };

  /// What a backward pass has told so far of errors that all later gradients have.
  class Loss {
   public:
    explicit Loss(Note note) : note_(std::move(note)) {}
    void start(const SiteKey& site, double factor);
    /// Of the gradient that has the error.
    void set_energy(const SiteKey& site, double energy);
    /// Of gradients of weights that are computed from it.
    void add_weights(double energy);

   private:
    struct Source {
      SiteKey site;
      double factor;         ///< the squared error of the gradient, an element of the tensor
      double energy = 0.0;   ///< of that gradient; 0: not known yet
      double weights = 0.0;  ///< energies of weights' gradients
    };

    void note(const Source& source) const;

    Note note_;
    std::mutex mutex_;
    std::vector<Source> sources_;
  };

  void follow_loss(const RecordedCall& call, const Coded& coded);
  void follow_layer(const RecordedCall& call, const std::vector<Coded>& here);

  Note note_;
  std::shared_ptr<Loss> loss_;
  std::vector<std::pair<std::string, Coded>> coded_;  ///< by operation
};

}  // namespace fewbit::session
