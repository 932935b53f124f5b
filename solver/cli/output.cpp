#include "cli/output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"

namespace fewbit::solver {

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) flush_output();
}

void write_output(const std::string& path, const std::string& content) {
  if (path.empty() || path == "-") {
    print(content);
  } else {
    write_text_file(path, content);
  }
}

void flush_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  const int reason = errno == 0 ? EIO : errno;
  throw Error(std::string("cannot write: ") + std::strerror(reason), "standard output");
}

bool wants_colour() {
  return ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
}

}  // namespace fewbit::solver
