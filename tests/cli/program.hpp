#pragma once

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fewbit {

/// What a run of fewbit-solve left behind.
struct Outcome {
  int code;
  std::string out;
  std::string err;
};

/// Runs fewbit-solve in a folder of the test's own, removed afterwards.
class Program : public testing::Test {
 protected:
  Program();
  ~Program() override;

  /// `arguments` as a shell reads them; standard output and error are files, not terminals.
  Outcome run(const std::string& arguments) const;

  /// Exit `code`, nothing on standard output, and one line that starts "fewbit-solve: error: " and
  /// holds `part`.
  void expect_refused(const std::string& arguments, int code, const std::string& part) const;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, const std::string& content) const;
  std::string read(const std::string& name) const;
  bool exists(const std::string& name) const;

 private:
  std::string folder_;
};

}  // namespace fewbit
