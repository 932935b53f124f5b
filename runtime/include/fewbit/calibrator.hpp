#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <torch/nn/module.h>

#include "fewbit/nn/few_bit_module.hpp"
#include "fewbit/table.hpp"

namespace fewbit {

namespace session {
class SiteStatistics;
}

/// Fits one table per activation to what goes through it:
///
///   fewbit::Calibrator calibrator(*model);
///   for (int step = 0; step < 10; ++step) train(model);   // it watches
///   calibrator.fit();                                     // the modules have their own tables now
///   std::cout << calibrator.report();
///
/// Watches every few-bit module of a model (fewbit::nn): a histogram of its inputs, and mean and
/// variance of each channel (the last dimension; the second of four and more), summed on the
/// input's device without a look at the result. The tables are solved for the smoothed objective up
/// to 4 bits, for the squared one above, in milliseconds each; a module with a table of the
/// unbiased form gets one of that form. Training goes on at the same speed.
class Calibrator {
 public:
  /// Watches from now on. The model must outlive the calibrator or its fit().
  explicit Calibrator(torch::nn::Module& model);
  ~Calibrator();
  Calibrator(const Calibrator&) = delete;
  Calibrator& operator=(const Calibrator&) = delete;

  /// How well a table fits one activation, under the inputs that it saw.
  struct Fit {
    std::string site;  ///< the module's name in the model, "layers.0.activation"
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

  /// Stops watching, solves a table for each module that saw anything, and sets it. Modules whose
  /// table is exact, or that saw nothing, keep theirs.
  const std::vector<Fit>& fit();
  const std::vector<Fit>& fits() const { return fits_; }
  /// The fits as a table for a person.
  std::string report() const;

  /// Writes the fitted tables to FOLDER/<site>.json.
  void save(const std::string& folder) const;
  /// Sets on a model what save() wrote; throws c10::Error for a file without a module.
  static void load(torch::nn::Module& model, const std::string& folder);

 private:
  struct Site {
    nn::FewBitModule* module;
    std::shared_ptr<session::SiteStatistics> statistics;
  };
  Fit fit_site(const std::string& name, Site& site);

  std::map<std::string, Site> sites_;
  std::map<std::string, Table> fitted_;
  std::vector<Fit> fits_;
};

}  // namespace fewbit
