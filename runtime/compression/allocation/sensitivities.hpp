#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compression/compression.hpp"

namespace fewbit::session {

/// Finds, in the backward pass itself, what errors of saved tensors do to the gradients: by the
/// energies of the gradients of what the operations give that saved them (Chen et al., ActNN, ICML
/// 2021, section 4.1). What the loss keeps errs in the gradients of all layers. For one forward.
class Sensitivities {
 public:
  explicit Sensitivities(const std::shared_ptr<Compression>& compression)
      : compression_(compression), loss_(std::make_shared<Loss>(compression)) {}

  /// Whether it is to hear of the ends of such calls.
  static bool follows(std::string_view operation);

  /// An operation that runs coded a tensor at a place.
  void add(const Compression::SiteKey& site, const at::Tensor& tensor, const SaveEvent& event,
           const SavePolicy& save_policy);
  void end_call(const RecordedCall& call);

 private:
  /// What was coded by an operation that has not ended.
  struct Coded {
    Compression::SiteKey site;
    double factor;    ///< of the energy of the gradient
    double elements;  ///< of the tensor
  };

  /// What a backward pass has told so far of what errs in all that comes behind.
  class Loss {
   public:
    explicit Loss(std::weak_ptr<Compression> compression) : compression_(std::move(compression)) {}
    void start(const Compression::SiteKey& site, double factor);
    /// Of the gradient that errs.
    void set_energy(const Compression::SiteKey& site, double energy);
    /// Of gradients of weights that come of it.
    void add_weights(double energy);

   private:
    struct Place {
      Compression::SiteKey site;
      double factor;         ///< the squared error of the gradient, an element of the tensor
      double energy = 0.0;   ///< of that gradient; 0: not known yet
      double weights = 0.0;  ///< energies of weights' gradients
    };

    static void note(Compression& compression, const Place& place);

    std::weak_ptr<Compression> compression_;
    std::mutex mutex_;
    std::vector<Place> places_;
  };

  void follow_loss(const RecordedCall& call, const Coded& coded);
  void follow_layer(const RecordedCall& call, const std::vector<Coded>& here);

  std::weak_ptr<Compression> compression_;
  std::shared_ptr<Loss> loss_;
  std::vector<std::pair<std::string, Coded>> coded_;  ///< by operation
};

}  // namespace fewbit::session
