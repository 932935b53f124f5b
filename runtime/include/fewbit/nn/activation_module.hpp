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

/// A few-bit activation of any function, with its table.
///
/// ```cpp
/// const auto table = fewbit::Table::standard("gelu", fewbit::Bits{2});
/// for (const auto& module : model->modules()) {
///   auto* act = dynamic_cast<fewbit::nn::ActivationModule*>(module.get());
///   if (act != nullptr && act->table().function() == "gelu") act->set_table(table);
/// }
/// ```
///
/// The table may be changed while other threads run the module. A copy has the same table.
class ActivationModule : public Observed {
 public:
  virtual ~ActivationModule() = default;

  Table table() const {
    const std::lock_guard lock(mutex_);
    return table_;
  }
  /// Sets the table for later forwards; a graph that was built before is not affected. Throws
  /// c10::Error for a table of another function or with other parameters.
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

/// Returns the given table, or else the default one for `bits`. Throws c10::Error, naming the
/// module, for a table of another function or with other parameters.
Table table_for(const char* module, const std::string& function, const NamedParameters& parameters,
                int bits, const std::optional<Table>& given);

/// The module of each function: ELUImpl is ActivationImpl<ELUOptions>. Options gives the function
/// and its parameters.
///
/// ```cpp
/// fewbit::nn::ELU act(fewbit::nn::ELUOptions().alpha(0.5));
/// const at::Tensor y = act(x);
/// std::cout << act << '\n';
/// ```
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

  /// Writes "fewbit::nn::ELU(alpha=0.5, bits=3, table=smoothed_normal_b3)".
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
