#pragma once

#include <string>

namespace fewbit {

namespace kernels {
struct Activation;
}

/// Adds a function to those that fewbit::activation, Table::standard and Calibrator know, for as
/// long as the program runs. Code that the CMake command `fewbit_add_activation(... TORCH)`
/// generates calls it before main.
///
/// kernels: those of the function; they have to live as long as the program.
/// table_json: text of a table's file. The table is the function's default for its number of bits.
/// Tables of other bits are solved at first use, with the same form, objective, weight and domain.
///
/// A second call with the same arguments changes nothing. Throws c10::Error for the name of a
/// built-in function, for a table of another function, and for another table than in an earlier
/// call.
void register_activation(const kernels::Activation& kernels, const std::string& table_json);

}  // namespace fewbit
