#include "base/error.hpp"

#include <utility>

namespace fewbit {

namespace {

std::string compose(const std::string& message, const std::string& file, const std::string& field) {
  std::string text;
  if (!file.empty()) text += file + ": ";
  if (!field.empty()) text += field + ": ";
  return text + message;
}

}  // namespace

Error::Error(const std::string& message, std::string file, std::string field)
    : std::runtime_error(compose(message, file, field)),
      file_(std::move(file)),
      field_(std::move(field)) {}

}  // namespace fewbit
