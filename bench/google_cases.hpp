#pragma once

namespace fewbit::bench {

/// A benchmark whose cases are known at run time alone defines this and links
/// fewbit_bench_google_main: it registers them.
void register_cases();

}  // namespace fewbit::bench
