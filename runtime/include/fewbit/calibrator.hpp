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

/// Fits one table per activation to what goes through it, of a model with modules of fewbit::nn
///
///   fewbit::Calibrator calibrator(*model);
///   for (int step = 0; step < 10; ++step) train(model);   // it watches
///   calibrator.fit();                                     // the modules have their own tables now
///   std::cout << calibrator.report();
///
/// or of an unchanged model that runs inside scopes, a scope for every forward:
///
///   fewbit::Calibrator calibrator;
///   for (int step = 0; step < 1000; ++step) {
///     if (step == 10) calibrator.fit();   // scopes take its tables from now on
///     fewbit::ActivationScope scope({.bits = 2}, calibrator);
///     loss = model->forward(x);
///     ...
///
/// Watches a histogram of each activation's inputs, and mean and variance of each channel (the last
/// dimension; the second of four and more), summed on the input's device without a look at the
/// result. Modules may run in several threads; clones of them are not watched. The tables are
/// solved for the smoothed objective up to 4 bits, for the squared one above, in milliseconds each;
/// a table of the unbiased form gives way to one of that form. Training goes on at the same speed.
///
/// Inside scopes the n-th activation of a forward that is replaced is site n, "0.gelu". Order,
/// number, functions, parameters and bits have to stay those of the first forward: c10::Error is
/// thrown where one changed (where a forward ended early, by the next scope and by fit()), so that
/// inputs of two places never mix. What is left alone, such as all of a forward without gradients,
/// is no site; a forward that an exception ends is taken as far as it came. Scopes of one
/// calibrator may run in several threads.
class Calibrator {
 public:
  /// Watches every few-bit module of the model until fit() or its own end. Throws c10::Error where
  /// there is none, or where one is watched already.
  explicit Calibrator(torch::nn::Module& model);
  /// Watches what is replaced in the scopes that it is given to.
  Calibrator();
  ~Calibrator();
  Calibrator(const Calibrator&) = delete;
  Calibrator& operator=(const Calibrator&) = delete;

  /// How well a table fits one activation, under the inputs that it saw.
  struct Fit {
    std::string site;  ///< the module's name, "layers.0.activation"; in scopes "0.gelu"
    std::string function;
    int bits;
    int64_t elements;     ///< seen
    double mean;          ///< of all inputs
    double spread;        ///< standard deviation of all inputs
    double within;        ///< rms standard deviation within a channel
    double error_before;  ///< expected squared error of the derivative
    double error_after;
    double bias_before;  ///< rms smoothed bias of the derivative, see solver/README.md
    double bias_after;
    std::string note;  ///< why the table stayed, empty where it was fitted
  };

  /// Stops watching, solves a table for each site that saw anything, and sets it. Sites whose table
  /// is exact, that saw nothing, or only inputs where the derivative is all but constant, keep
  /// theirs. Throws c10::Error where scopes had no sites.
  const std::vector<Fit>& fit();
  const std::vector<Fit>& fits() const { return fits_; }
  /// The fits as a table for a person.
  std::string report() const;

  /// Writes the fitted tables to FOLDER/<site>.json; of scopes also the list of sites,
  /// FOLDER/sites.txt.
  void save(const std::string& folder) const;
  /// Sets on a model what save() wrote; throws c10::Error for a file without a module.
  static void load(torch::nn::Module& model, const std::string& folder);
  /// For scopes: takes what save() wrote in the place of all that was watched or fitted.
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
