#pragma once

#include <memory>
#include <optional>
#include <string>

#include "examples/models/catalogue.hpp"
#include "fewbit/checkpoint.hpp"
#include "fewbit/compressor.hpp"

namespace fewbit::bench {

/// As blocks run that are checkpoints.
inline at::Tensor run_checkpoint(const examples::Block& block, const at::Tensor& x) {
  return checkpoint(block, x);
}

/// How a step keeps what backward needs.
struct Way {
  std::string name;
  std::optional<double> bits = {};  ///< none: exact
  bool has_checkpoints = false;     ///< at every block

  bool is_possible(const examples::ModelSubject& subject) const {
    return !has_checkpoints || subject.run_blocks_by;
  }
  /// From now on its blocks run so.
  void run_blocks(const examples::ModelSubject& subject) const {
    if (subject.run_blocks_by) subject.run_blocks_by(has_checkpoints ? run_checkpoint : nullptr);
  }
  /// Null: none.
  std::unique_ptr<Compressor> compressor() const {
    return bits ? std::make_unique<Compressor>(CompressorOptions{.bits = *bits}) : nullptr;
  }
};

}  // namespace fewbit::bench
