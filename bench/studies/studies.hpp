#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

// The benchmarks that are no cases of Google Benchmark: commands of one program, which compiles
// what they take of libtorch once.
namespace fewbit::bench {

/// What runs once the options are read; gives the exit status.
using Study = std::function<int()>;

/// As it is typed: ` --models cnn "normed cnn"`.
inline std::string typed(const std::string& option, const std::vector<std::string>& values) {
  std::string text = " " + option;
  for (const std::string& value : values) {
    text += value.find(' ') == std::string::npos ? " " + value : " \"" + value + "\"";
  }
  return text;
}

// Each declares its options.
namespace activation_study {
Study command(CLI::App& app);
}
namespace calibration_study {
Study command(CLI::App& app);
}
namespace codec_errors_study {
Study command(CLI::App& app);
}
namespace fits_study {
Study command(CLI::App& app);
}
namespace gradient_errors_study {
Study command(CLI::App& app);
}
namespace memory_study {
Study command(CLI::App& app);
}
namespace peaks_study {
Study command(CLI::App& app);
}
namespace scopes_study {
Study command(CLI::App& app);
}
namespace steps_study {
Study command(CLI::App& app);
}
namespace training_study {
Study command(CLI::App& app);
}

}  // namespace fewbit::bench
