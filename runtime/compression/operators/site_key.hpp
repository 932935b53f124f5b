#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>

#include "fewbit/compressor.hpp"

namespace fewbit::session {

/// A site of a model: operation, argument, and how many of these came before in a forward.
using SiteKey = std::tuple<std::string, int, int64_t>;

struct SiteHash {
  size_t operator()(const SiteKey& site) const {
    const auto& [operation, argument, call] = site;
    const auto number = static_cast<uint64_t>(call) * 8 + static_cast<uint64_t>(argument);
    return std::hash<std::string>()(operation) ^ (number * 0x9E3779B97F4A7C15u);
  }
};

inline SiteKey key_of(const Compressor::Site& site) {
  return {site.operation, site.argument, site.call};
}

}  // namespace fewbit::session
