#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fewbit/saved_bytes.hpp"
#include "meter/saved_call.hpp"

namespace fewbit::session {

// What codes of so many bits would change of what is saved, by arithmetic alone: a call that is
// replaced saves what its replacement does; all others save what they do.
class Forecast {
 public:
  // The entries outlive this.
  Forecast(const std::vector<SavedTensor>& entries, Bits bits);

  // Saved where all calls are replaced that are so unasked.
  std::int64_t bytes() const;
  // A line for every kind of call that could save fewer bytes for backward, and one for a scope.
  // Empty where there is none.
  std::string text() const;

 private:
  struct Call {
    const SavedCall* call = nullptr;
    Storages kept;  // parameters apart
    bool keeps_input = false;
    bool keeps_output = false;
    Storages output;  // its output where it does not save that and others go on to
    std::optional<Replacement> replacement;

    bool replaced() const { return replacement && replacement->request.empty(); }
  };
  struct Storage {
    std::int64_t bytes = 0;
    std::map<std::int64_t, std::string> keepers;  // node -> name
  };

  void add(const SavedTensor& saved);
  std::int64_t sum(const Storages& storages) const;
  bool freed(std::int64_t storage, std::int64_t node) const;
  bool goes(std::int64_t storage, const Call* also = nullptr) const;
  std::vector<std::string> others(const Call& call, std::int64_t node) const;
  std::vector<std::string> users(const Call& call) const;

  std::int64_t saved_by(const Call& call) const;
  std::string kept_text(std::int64_t node, const Call& call) const;
  std::string gain_text(const Call& call) const;
  std::string coded_text(const Call& call) const;

  Bits bits_;
  std::map<std::int64_t, Call> calls_;  // by node, which is the order of calling
  std::map<std::int64_t, Storage> storages_;
};

}  // namespace fewbit::session
