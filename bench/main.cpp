#include "bench/command.hpp"

int main(int argc, char** argv) {
  CLI::App app;
  const auto run = fewbit::bench::command(app);
  CLI11_PARSE(app, argc, argv);
  return run();
}
