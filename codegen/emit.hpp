#pragma once

#include <string>

#include "table/table.hpp"

namespace fewbit::codegen {

enum class Language {
  cpp,     ///< a C++20 header: encode and decode, forward and backward as loops over arrays
  cuda,    ///< a CUDA header: the same with kernels and their launchers
  torch,   ///< a Python module of torch operations, with autograd, for any device
  triton,  ///< a Python module of Triton kernels around torch's autograd
};

/// Where a language's code goes unless a namespace is given:
/// fewbit_<function>_<form>_b<bits>_<digest>, the form "smoothed" where the objective is, the
/// digest of the table's canonical text, and _cuda, _triton after it where the language is. Two
/// tables that differ in anything share it about once in 2^48 pairs; the same table always has the
/// same.
std::string default_namespace(const solver::Table& table, Language language);

/// Throws Error where `name` is no namespace of the language: identifiers joined by ::, none of
/// them a keyword; one identifier for Python.
void check_namespace(const std::string& name, Language language);

/// One self-contained file for `table` in `language`: its function and derivative, the table,
/// encode and decode, forward and backward. Elements are float and the 16-bit types, for torch also
/// double. All is in `name_space` (for Python that of torch.library), or in the default one where
/// it is empty. The same table gives the same text on every machine. Throws Error where the
/// table's expression does not parse, one of its names is no identifier, a number is beyond the
/// range of float, or `name_space` is none of the language.
std::string emit_code(const solver::Table& table, Language language,
                      const std::string& name_space = {});

}  // namespace fewbit::codegen
