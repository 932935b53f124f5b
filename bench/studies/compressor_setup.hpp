#pragma once

#include <string>

#include "fewbit/compressor.hpp"

namespace fewbit::bench {

/// A way to keep what is saved.
struct CompressorSetup {
  std::string name;
  CompressorOptions options;
  bool runs_layers_again = false;  ///< computes linear layers and activations again where better

  void set_up(Compressor& compressor) const {
    if (!runs_layers_again) return;
    for (const char* way : {"linear", "activation"})
      compressor.recompute(way, Recompute::where_better);
  }
};

}  // namespace fewbit::bench
