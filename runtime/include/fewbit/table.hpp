#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <c10/core/ScalarType.h>

#include "fewbit/bits.hpp"

namespace fewbit {

/// The numbers of a table.
struct TableData {
  std::string function;
  std::vector<double> parameters;  ///< of the function, all of them, in declared order
  std::string name;                ///< "levels_normal_b3"
  bool even = false;               ///< thresholds cut |x| instead of x
  double error = 0.0;              ///< squared error of the derivative under the table's weight
  std::vector<float> thresholds;   ///< ascending; the largest floats not above the solved ones
  std::vector<uint8_t> interval_codes;  ///< one more than thresholds; empty in the unbiased form
  std::optional<uint8_t> nan_code;      ///< of a NaN; none: that of the lowest interval
  std::vector<float> levels;            ///< ascending, 2 to 256
  std::string json;                     ///< text of its file; empty for a built-in table
};

/// The few-bit derivative of one activation. Its value at x is levels[interval_codes[i]], where i
/// is the number of thresholds below x.
///
/// ```cpp
/// const auto table = fewbit::Table::standard("elu", fewbit::Bits{2}, {0.5});
/// const at::Tensor y = fewbit::activation(x, table);
/// table.save("elu.json");
/// ```
///
/// A table is an immutable value and cheap to copy.
///
/// The exact tables of relu, leaky_relu, relu6, threshold, hardtanh, hardsigmoid, hardshrink and
/// softshrink give torch's gradients bit for bit, in every type. That includes kinks, infinite x
/// and dy, and NaN. For that they have their own thresholds for each type, and their own levels for
/// double; data() holds float's. All other tables give a kink to the piece on its left, and a NaN
/// to the lowest interval.
class Table {
 public:
  /// Throws c10::Error, naming the table, where counts, order or codes are not those of a table.
  explicit Table(TableData data);

  /// Returns a table that comes with the library, by function and name ("gelu",
  /// "levels_normal_b3"). Throws c10::Error naming the accepted ones.
  static Table builtin(const std::string& function, const std::string& name);

  /// Returns the default table with codes of `bits` bits, 1 to 8.
  ///
  /// parameters: of the function in declared order, as elu's alpha; empty: their defaults. Returns
  /// a built-in table where there is one. Otherwise it is solved now, which takes some
  /// milliseconds, once per process. Functions whose derivative is a step function are exact in 1
  /// bit, whatever `bits` says. Throws c10::Error for an unknown function, other bits or the wrong
  /// number of parameters.
  static Table standard(const std::string& function, Bits bits,
                        const std::vector<double>& parameters = {});

  /// Reads a file that fewbit-solve or save() wrote. Throws c10::Error naming file and field.
  static Table load(const std::string& path);
  /// Reads the text of such a file.
  static Table from_json(const std::string& text);

  /// Writes a table that was solved or loaded. Throws c10::Error naming the file, and for a
  /// built-in table, which builtin() returns by its name.
  void save(const std::string& path) const;

  const std::string& function() const { return state_->data.function; }
  const std::vector<double>& parameters() const { return state_->data.parameters; }
  const std::string& name() const { return state_->data.name; }
  /// Bits of one code: the fewest that tell the levels apart.
  int bits() const;
  /// True if it is for this function with these parameters, compared as float32.
  bool is_for(const std::string& function, const std::vector<double>& parameters) const;
  /// True if thresholds cut |x| instead of x.
  bool is_even() const { return state_->data.even; }
  /// True if codes are drawn at random with f'(x) as the mean level. Such a table has no
  /// thresholds.
  bool is_unbiased() const { return state_->data.interval_codes.empty(); }
  const TableData& data() const { return state_->data; }

  /// The table's numbers as operations take them, for x of one type.
  struct Steps {
    std::vector<double> thresholds;
    std::vector<int64_t> codes;  ///< of the intervals, then a NaN's where that is another
    std::vector<double> levels;
    bool even;
  };
  const Steps& steps(at::ScalarType type) const;

 private:
  struct State {
    TableData data;
    Steps floats;
    std::map<at::ScalarType, Steps> others;  ///< of types that have their own
  };

  std::shared_ptr<const State> state_;
};

}  // namespace fewbit
