#pragma once

#include <map>
#include <string>
#include <vector>

#include "table/table.hpp"
#include "trellis/trellis.hpp"

namespace fewbit::codegen {

/// File name (relative to the output folder) to content.
using Files = std::map<std::string, std::string>;

/// All tables below `folder`, which holds <function>/<stem>.json, ordered by function and stem. A
/// missing folder is an empty one. Throws Error for a file that is no table, whose name does not
/// fit its content, or whose function neither the registry nor the quantisers hold as it is.
std::vector<solver::Table> load_tables(const std::string& folder);

/// The trellis quantisers in `folder`, none where it has no such file. Throws Error for another
/// file of that name.
std::vector<solver::TrellisQuantizer> load_trellises(const std::string& folder);

/// Everything that belongs into generated/: one header per registered function with its tables,
/// what they include, the registry include, cuda/<name>.cu, sources.cmake; normal_quantizer.hpp and
/// trellis_quantizer.hpp where there are tables for them. A pure function of registry, templates
/// and tables.
Files generate_files(const std::vector<solver::Table>& tables,
                     const std::vector<solver::TrellisQuantizer>& trellises = {});

/// A function of one's own for libtorch, with the table it starts with:
///   fewbit/nn/<name>.hpp   fewbit::<name>(x, bits) and the module fewbit::nn::<Name>
///   <name>/activation.cpp  their definitions and the registration with the runtime
///   <name>/functions.hpp, registry.inc and what they include: for
///   kernels/activation/cpu/values.cpp and
///                          registry.cpp
///   <name>/<name>.cu       the same for CUDA
/// Throws Error for a function with parameters or a name that cannot be used so.
Files generate_torch(const solver::Table& table);

}  // namespace fewbit::codegen
