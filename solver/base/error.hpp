#pragma once

#include <stdexcept>
#include <string>

namespace fewbit {

/// Every failure that a user can cause. `what()` is one clear line (an expression error adds the
/// text and a caret below it). `file` and `field` name the place where one is known.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, std::string file = {}, std::string field = {});

  const std::string& file() const { return file_; }
  const std::string& field() const { return field_; }

 private:
  std::string file_;
  std::string field_;
};

/// The command line itself is wrong: exit code 2 instead of 1.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace fewbit
