#pragma once

#include <mutex>
#include <ostream>
#include <string>
#include <utility>

#include <torch/nn/cloneable.h>
#include <torch/nn/pimpl.h>

#include "fewbit/activation.hpp"
#include "fewbit/nn/activation_options.hpp"
#include "fewbit/nn/observed.hpp"

namespace fewbit::nn {

/// What all few-bit activations have in common, whatever function they compute: a table, which may
/// change while other threads run the module. A copy takes the table.
class ActivationModule : public Observed {
 public:
  virtual ~ActivationModule() = default;

  Table table() const {
    const std::lock_guard lock(mutex_);
    return table_;
  }
  /// From now on; a graph that was built before keeps its own. Throws c10::Error for a table of
  /// another function or other parameters.
  virtual void set_table(Table table) = 0;

 protected:
  explicit ActivationModule(Table table) : table_(std::move(table)) {}
  ActivationModule(const ActivationModule& other) : Observed(other), table_(other.table()) {}
  ActivationModule& operator=(const ActivationModule& other) {
    use(other.table());
    return *this;
  }

  void use(Table table) {
    const std::lock_guard lock(mutex_);
    table_ = std::move(table);
  }

 private:
  mutable std::mutex mutex_;
  Table table_;
};

/// The table that was given, or the default one. Throws c10::Error, naming the module, for a table
/// of another function or other parameters.
Table table_for(const char* module, const std::string& function, const NamedParameters& parameters,
                int bits, const std::optional<Table>& given);

/// One implementation for all; Options names the function and its parameters.
template <class Options>
class ActivationImpl : public torch::nn::Cloneable<ActivationImpl<Options>>,
                       public ActivationModule {
 public:
  explicit ActivationImpl(const Options& options_ = Options())
      : ActivationModule(table_for(Options::kName, options_.function(), options_.parameters(),
                                   options_.bits(), options_.table())),
        options(options_) {}

  at::Tensor forward(const at::Tensor& x) {
    show(x);
    return activation(x, table());
  }

  void reset() override {}

  /// "fewbit::nn::ELU(alpha=0.5, bits=3, table=smoothed_normal_b3)".
  void pretty_print(std::ostream& stream) const override {
    stream << "fewbit::nn::" << Options::kName << '(';
    for (const auto& [name, value] : options.parameters()) stream << name << '=' << value << ", ";
    const Table now = table();
    stream << "bits=" << now.bits() << ", table=" << now.name() << ')';
  }

  void set_table(Table table) override {
    use(table_for(Options::kName, options.function(), options.parameters(), options.bits(),
                  std::move(table)));
  }

  Options options;
};

}  // namespace fewbit::nn
