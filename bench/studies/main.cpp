#include <map>
#include <string>

#include "bench/studies/studies.hpp"

int main(int argc, char** argv) {
  namespace bench = fewbit::bench;
  const std::map<std::string, bench::Study (*)(CLI::App&)> commands = {
      {"activation", bench::activation_study::command},
      {"calibration", bench::calibration_study::command},
      {"codec_errors", bench::codec_errors_study::command},
      {"fits", bench::fits_study::command},
      {"gradient_errors", bench::gradient_errors_study::command},
      {"memory", bench::memory_study::command},
      {"peaks", bench::peaks_study::command},
      {"scopes", bench::scopes_study::command},
      {"steps", bench::steps_study::command},
      {"training", bench::training_study::command},
  };
  CLI::App app("What takes few-bit training how much time, memory and accuracy.");
  app.require_subcommand(1);
  std::map<CLI::App*, bench::Study> studies;
  for (const auto& [name, command] : commands) {
    CLI::App* study = app.add_subcommand(name);
    studies[study] = command(*study);
  }
  CLI11_PARSE(app, argc, argv);
  return studies.at(app.get_subcommands().front())();
}
