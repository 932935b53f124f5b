#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "fewbit/compressor.hpp"

namespace fewbit::session {

/// A site of a model: operation, argument, and how many of these came before in a forward.
using SiteKey = std::tuple<std::string, int, int64_t>;

inline SiteKey key_of(const Compressor::Site& site) {
  return {site.operation, site.argument, site.call};
}

}  // namespace fewbit::session
