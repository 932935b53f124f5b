#include "tests/cli/program.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <sys/wait.h>

namespace fewbit {

namespace {

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

Program::Program() {
  std::string name = (std::filesystem::temp_directory_path() / "fewbit_cli_XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = name;
}

Program::~Program() {
  std::error_code status;
  std::filesystem::remove_all(folder_, status);
}

Outcome Program::run(const std::string& arguments) const {
  const std::string command =
      "cd '" + folder_ + "' && '" FEWBIT_SOLVE "' </dev/null " + arguments + " >.stdout 2>.stderr";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(".stdout"), read(".stderr")};
}

void Program::expect_refused(const std::string& arguments, int code,
                             const std::string& part) const {
  const Outcome outcome = run(arguments);
  EXPECT_EQ(outcome.code, code) << arguments;
  EXPECT_EQ(outcome.out, "") << arguments;
  EXPECT_THAT(outcome.err, testing::StartsWith("fewbit-solve: error: ")) << arguments;
  EXPECT_THAT(outcome.err, testing::HasSubstr(part)) << arguments;
  EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << arguments;
}

void Program::write(const std::string& name, const std::string& content) const {
  std::ofstream(path(name), std::ios::binary) << content;
}

std::string Program::read(const std::string& name) const {
  return content_of(path(name));
}

bool Program::exists(const std::string& name) const {
  return std::filesystem::exists(path(name));
}

}  // namespace fewbit
