#pragma once

namespace fewbit::solver {

// The pages of `fewbit-solve help`, plain text of at most 80 columns.
extern const char* const kFormsText;
extern const char* const kWeightsText;
extern const char* const kResultsText;
extern const char* const kFilesText;
extern const char* const kExitCodesText;

}  // namespace fewbit::solver
