#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <torch/nn/module.h>

#include "fewbit/table.hpp"

namespace fewbit {

namespace nn {
class ActivationModule;
}

namespace session {
class ScopeSites;
class SiteStatistics;
}  // namespace session

/// Fits one table per activation to the inputs that it gets in training.
///
/// For a model with modules of fewbit::nn:
///
/// ```cpp
/// torch::nn::Sequential net(torch::nn::Linear(64, 64), fewbit::nn::GELU());
/// fewbit::Calibrator calibrator(*net);
/// for (int step = 0; step < 10; ++step) net->forward(x).sum().backward();  // it watches
/// calibrator.fit();  // now the modules have their own tables
/// std::cout << calibrator.report();
/// ```
///
/// For an unchanged model that runs inside scopes, one scope for every forward:
///
/// ```cpp
/// fewbit::Calibrator calibrator;
/// for (int step = 0; step < 20; ++step) {
///   if (step == 10) calibrator.fit();  // scopes use its tables from now on
///   fewbit::ActivationScope scope({.bits = 2}, calibrator);
///   loss = model->forward(x);
///   loss.backward();
/// }
/// ```
///
/// Records a histogram of each activation's inputs, and the mean and variance of each channel: the
/// last dimension, or the second of four and more. Sums stay on the inputs' device, and the host
/// does not wait for them. Modules may run in several threads. Clones of modules are not watched. A
/// watched module that runs inside a transform of functorch throws c10::Error.
///
/// A table takes milliseconds to solve. Up to 4 bits it is solved for the smoothed objective, above
/// for the squared one. A table of the unbiased form is replaced by another of that form, for the
/// squared objective. Steps take as long with fitted tables as with the default ones.
///
/// **In scopes**
/// - Site n is the n-th activation that a forward replaces, counted from 0; its name is "0.gelu".
/// - Every forward has to have the sites of the first one: their order, number, functions,
///   parameters and bits. Thus inputs of two sites never mix.
/// - Where one differs, c10::Error is thrown at once. Where a forward had fewer sites, the next
///   scope and fit() throw it.
/// - Activations that are left alone are no sites, such as all of a forward without gradients.
/// - A forward that an exception ends counts as far as it came.
/// - Scopes of one calibrator may run in several threads.
class Calibrator {
 public:
  /// Watches every few-bit module of the model until fit(), or until the calibrator's end.
  ///
  /// Throws c10::Error where the model has no such module, or where one is watched already.
  explicit Calibrator(torch::nn::Module& model);
  /// Watches the activations that are replaced in the scopes that it is given to.
  Calibrator();
  ~Calibrator();
  Calibrator(const Calibrator&) = delete;
  Calibrator& operator=(const Calibrator&) = delete;

  /// How well a table fits the inputs of one activation.
  struct Fit {
    std::string site;  ///< the module's name, "layers.0.activation"; in scopes "0.gelu"
    std::string function;
    int bits;
    int64_t elements;     ///< seen
    double mean;          ///< of all inputs
    double spread;        ///< standard deviation of all inputs
    double within;        ///< root mean square of the channels' standard deviations
    double error_before;  ///< expected squared error of the derivative, with the table before
    double error_after;   ///< the same with the fitted table
    double bias_before;   ///< rms smoothed bias of the derivative (solver/README.md)
    double bias_after;
    std::string note;  ///< why no table was fitted; empty where one was
  };

  /// Stops watching, solves a table for each site, and sets it.
  ///
  /// The table does not change where it is exact, where the site saw no inputs, and where the
  /// derivative is all but constant over them. Fit::note tells which. Throws c10::Error where
  /// scopes had no sites or different ones, where tables were loaded, or where a watched module
  /// does not live any more.
  const std::vector<Fit>& fit();
  /// What the latest fit() returned.
  const std::vector<Fit>& fits() const { return fits_; }
  /// fits() as a table for a person.
  std::string report() const;

  /// Writes the fitted tables to FOLDER/<site>.json (docs/files.md). For scopes it also writes the
  /// list of sites, FOLDER/sites.txt. Throws c10::Error naming the file.
  void save(const std::string& folder) const;
  /// Sets on a model's modules the tables that save() wrote. Throws c10::Error for a file whose
  /// name is no module's.
  static void load(torch::nn::Module& model, const std::string& folder);
  /// For scopes: replaces everything watched or fitted by what save() wrote. Throws c10::Error
  /// where the calibrator watches modules, or naming the file.
  void load(const std::string& folder);

 private:
  friend class ActivationScope;
  struct Site {
    std::weak_ptr<nn::ActivationModule> module;
    std::shared_ptr<session::SiteStatistics> statistics;
  };
  static std::shared_ptr<nn::ActivationModule> stop(const Site& site);
  std::optional<Table> fit_site(const std::string& name, const Table& before,
                                const session::SiteStatistics& statistics);
  void fit_modules();
  void fit_scope_sites();

  std::map<std::string, Site> sites_;
  std::map<std::string, Table> fitted_;
  std::shared_ptr<session::ScopeSites> scope_sites_;  ///< null where modules are watched
  std::vector<Fit> fits_;
};

}  // namespace fewbit
