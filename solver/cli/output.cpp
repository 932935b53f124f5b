#include "cli/output.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"

namespace fewbit::solver {

namespace {

constexpr int kUsualWidth = 80;

bool quiet_asked = false;
bool reader_gone = false;

/// The whole of `text` as a positive number, else 0.
int count_of(const char* text) {
  int value = 0;
  if (text == nullptr) return 0;
  const char* end = text + std::strlen(text);
  const auto [stop, status] = std::from_chars(text, end, value);
  return status == std::errc{} && stop == end ? std::max(value, 0) : 0;
}

/// What was written to standard output did not arrive.
void output_lost(int reason) {
  reader_gone = reason == EPIPE;
  if (reader_gone) return;
  throw Error(std::string("cannot write: ") + std::strerror(reason == 0 ? EIO : reason),
              "standard output");
}

}  // namespace

void print(const std::string& text) {
  if (reader_gone) return;
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) output_lost(errno);
}

bool is_standard_output(const std::string& path) {
  return path.empty() || path == "-";
}

void check_output(const std::string& path) {
  if (is_standard_output(path)) return;
  namespace fs = std::filesystem;
  std::error_code status;
  if (fs::is_directory(path, status)) throw Error("is a folder, not a file", path);
  const bool special = fs::exists(path, status) && !fs::is_regular_file(path, status);
  // Through a link the file that it leads to is written.
  const fs::path target = fs::canonical(path, status);
  const fs::path parent = (status ? fs::path(path) : target).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (!special && !fs::is_directory(folder, status)) {
    const char* reason = fs::exists(folder, status) ? "is not a folder" : "does not exist";
    throw Error("cannot write: the folder '" + folder + "' " + reason, path);
  }
  // A file is replaced, for which its folder must be writable; a device is written itself.
  const std::string& place = special ? path : folder;
  if (::faccessat(AT_FDCWD, place.c_str(), special ? W_OK : W_OK | X_OK, AT_EACCESS) == 0) return;
  throw Error(std::string("cannot write: ") + std::strerror(errno), path);
}

std::vector<std::string> files_of(const std::vector<std::string>& weights) {
  std::vector<std::string> files;
  for (const std::string& weight : weights) {
    for (const std::string kind : {"samples:", "histogram:"}) {
      if (weight.starts_with(kind)) files.push_back(weight.substr(kind.size()));
    }
  }
  return files;
}

void check_not_input(const std::string& option, const std::string& path,
                     const std::vector<std::string>& inputs) {
  if (is_standard_output(path)) return;
  namespace fs = std::filesystem;
  const auto is_path = [&path](const std::string& input) {
    const size_t key = input.rfind(".npz:");
    std::error_code status;
    if (fs::equivalent(path, input, status)) return true;
    return key != std::string::npos && fs::equivalent(path, input.substr(0, key + 4), status);
  };
  if (std::ranges::any_of(inputs, is_path)) {
    throw UsageError(option + ": '" + path + "' is read by this call; expected another file");
  }
}

void write_output(const std::string& path, const std::string& content) {
  if (is_standard_output(path)) {
    print(content);
  } else {
    check_output(path);
    write_text_file(path, content);
  }
}

void flush_output() {
  if (reader_gone) return;
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) output_lost(errno);
}

bool wants_colour() {
  return ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
}

int output_width() {
  int width = count_of(std::getenv("COLUMNS"));
  winsize size{};
  if (width == 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  return std::clamp(width == 0 ? kUsualWidth : width, 40, 160);
}

void set_quiet(bool quiet) {
  quiet_asked = quiet;
}

bool is_quiet() {
  return quiet_asked;
}

}  // namespace fewbit::solver
