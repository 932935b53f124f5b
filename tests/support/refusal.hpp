#pragma once

#include <exception>
#include <string>

#include <c10/util/Exception.h>

namespace fewbit::test {

/// What `action` throws, or "accepted".
template <class Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace fewbit::test
