#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Trellis-coded quantisation of N(0, 1) (Marcellin, Fischer, IEEE Trans. Communications 38, 1990):
/// codes of b bits pick from 2^(b+1) levels, as the bits before them say which half may be taken.
///
/// Levels, ascending, fall into subsets 0 to 3 in turn: level j belongs to subset j mod 4. Let u_t
/// be the lowest bit of the t-th code, 0 before the first one. Element t takes its level from
/// subset
///   4 states: u_(t-1) + 2 (u_t xor u_(t-2))
///   8 states: u_(t-2) + 2 (u_t xor u_(t-1) xor u_(t-3))
/// and the code's other bits count within it: level 4 (code / 2) + subset. So a decoder needs a
/// window of three or four codes and no state; the best codes of a run are found by Viterbi's
/// algorithm. No rate of b bits errs less than 4^-b (Shannon).
namespace fewbit::solver {

struct TrellisQuantizer {
  int bits = 0;                ///< of a code, 1 to kMostTrellisBits
  int states = 0;              ///< 4 or 8
  std::vector<double> levels;  ///< 2^(bits + 1), ascending, symmetric
  double error = 0.0;          ///< the mean of (x - level)^2 over runs of kTrellisRun elements
};

/// Above, what is gained is small beside the other errors of what is coded.
inline constexpr int kMostTrellisBits = 4;
/// The length of the runs that levels are fitted to: they begin with bits that are 0.
inline constexpr int kTrellisRun = 256;

/// Levels that no change of one kind betters: each is the mean of what is coded by it, with the
/// best codes for these levels (Lloyd's iteration on 2^17 elements), rounded to 1e-5. `error` is of
/// 2^20 other elements, within .4 %. A local optimum; no bound but Shannon's is proven.
TrellisQuantizer fit_trellis(int bits, int states);

/// The best codes of a run and what they decode to: by Viterbi's algorithm in doubles.
struct TrellisPath {
  std::vector<int> codes;
  std::vector<double> values;
};
TrellisPath best_path(const TrellisQuantizer& quantizer, const std::vector<double>& run);

/// In the folder of the shipped tables.
inline constexpr const char* kTrellisFile = "trellis.json";

/// All that are shipped: 1 to kMostTrellisBits bits of 4 and of 8 states.
std::vector<TrellisQuantizer> shipped_trellises();

std::string to_json(const std::vector<TrellisQuantizer>& quantizers);
/// Throws Error with file and fault where it is not what to_json writes.
std::vector<TrellisQuantizer> trellises_from_json(std::string_view text, const std::string& file);

}  // namespace fewbit::solver
