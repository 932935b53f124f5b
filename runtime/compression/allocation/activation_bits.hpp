#pragma once

#include <string>
#include <vector>

namespace fewbit::session {

/// Squared errors of the function's standard tables of 1 to 8 bits for x from N(0, 1), over the
/// energy of the derivative. Solved for 1 to 4 bits, where they are not built in; beyond that they
/// fall by 4 a bit. All 0 where the derivative is a step function. Throws c10::Error where there is
/// no such table.
std::vector<double> table_errors(const std::string& function,
                                 const std::vector<double>& parameters);

/// The least bits of which the error is at most `most`, or as many as there are.
int bits_for(const std::vector<double>& errors, double most);

}  // namespace fewbit::session
