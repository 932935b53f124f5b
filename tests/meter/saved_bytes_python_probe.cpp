// Loaded into Python: what opening a watch says there.
#include <exception>
#include <string>

#include "fewbit/saved_bytes.hpp"

extern "C" const char* open_a_watch() {
  static std::string message;
  try {
    fewbit::SavedBytes meter;
    const auto watch = meter.watch();
    message = "opened";
  } catch (const std::exception& error) {
    message = error.what();
  }
  return message.c_str();
}
