#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <c10/core/ScalarType.h>

#include "fewbit/bits.hpp"

namespace fewbit {

/// What a table consists of.
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
  std::string json;                     ///< its file's text; empty for a built-in table
};

/// The few-bit derivative of one activation: levels[interval_codes[i]], i the number of thresholds
/// below x. An immutable value, cheap to copy.
///
/// The exact tables of relu, leaky_relu, relu6, threshold, hardtanh, hardsigmoid, hardshrink and
/// softshrink are torch's gradients to the bit, in every type: at kinks, for infinite x and dy and
/// for NaN. For that they have thresholds, and in double levels, of their own for each type; data()
/// holds float's. All other tables give a kink to the piece on its left and a NaN to the lowest
/// interval.
class Table {
 public:
  /// Throws c10::Error where counts, order or codes are not those of a table.
  explicit Table(TableData data);

  /// A table that comes with the library, by function and name ("gelu", "levels_normal_b3").
  /// Throws c10::Error naming the accepted ones.
  static Table builtin(const std::string& function, const std::string& name);

  /// The default for so many bits: of the built-in tables where there is one, else solved now (some
  /// milliseconds, once per process) for the parameters given in declared order (elu's alpha); none
  /// given means their defaults. Functions with a step function for a derivative are exact in 1 bit
  /// whatever `bits` says.
  static Table standard(const std::string& function, Bits bits,
                        const std::vector<double>& parameters = {});

  /// Reads a file that fewbit-solve wrote; throws c10::Error naming file and field.
  static Table load(const std::string& path);
  /// The text of such a file.
  static Table from_json(const std::string& text);

  /// Writes a table that was solved or loaded; a built-in one is refused, since its name says all.
  void save(const std::string& path) const;

  const std::string& function() const { return state_->data.function; }
  const std::vector<double>& parameters() const { return state_->data.parameters; }
  const std::string& name() const { return state_->data.name; }
  /// Of one stored code: the least that tells the levels apart.
  int bits() const;
  /// Whether it is for this function with these parameters, as float32 tells them apart.
  bool is_for(const std::string& function, const std::vector<double>& parameters) const;
  bool is_even() const { return state_->data.even; }
  /// Codes are drawn so that the expected level is f'(x); there are no thresholds.
  bool is_unbiased() const { return state_->data.interval_codes.empty(); }
  const TableData& data() const { return state_->data; }

  /// The same as the operations take it for x of one type.
  struct Steps {
    std::vector<double> thresholds;
    std::vector<int64_t> codes;  ///< of the intervals, and a NaN's where it has another
    std::vector<double> levels;
    bool even;
  };
  const Steps& steps(at::ScalarType type) const;

 private:
  struct State {
    TableData data;
    Steps floats;
    std::map<at::ScalarType, Steps> others;  ///< where a type has its own
  };

  std::shared_ptr<const State> state_;
};

}  // namespace fewbit
