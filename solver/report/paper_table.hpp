#pragma once

#include "report/document.hpp"
#include "report/parallel.hpp"

namespace fewbit::solver {

/// Table 1 of the Few-Bit Backward paper (Novikov et al., arXiv:2202.00441) solved again: its
/// figures beside ours in the paper's form (intervals) and in the default form (levels).
Section paper_section(const ProgressCall& progress = {});

}  // namespace fewbit::solver
