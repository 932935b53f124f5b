#pragma once

#include <functional>

#include <CLI/CLI.hpp>

namespace fewbit::bench {

/// A benchmark with options of its own defines this and links fewbit_bench_main: it declares them,
/// and returns what runs once they are read, which gives the exit status.
std::function<int()> command(CLI::App& app);

}  // namespace fewbit::bench
