#pragma once

#include <string>

namespace fewbit {

namespace kernels {
struct Activation;
}

/// Makes a function of one's own known to the operations fewbit::activation..., to Table::standard
/// and to Calibrator, as long as the program runs. What `fewbit_add_activation(... TORCH)`
/// generates calls it before main.
///
/// `kernels`: the function's, which live as long. `table_json`: the file of a table for it, the
/// default for as many bits as it has; other bits are solved at first use for the same form,
/// objective, weight and domain. The same function again changes nothing. Throws c10::Error for the
/// name of a built-in function, a table of another function, or another table than before.
void register_function(const kernels::Activation& kernels, const std::string& table_json);

}  // namespace fewbit
