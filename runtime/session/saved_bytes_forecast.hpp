#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fewbit/saved_bytes.hpp"
#include "fewbit/table.hpp"

namespace fewbit::session {

// What codes of so many bits would change of what is kept, by arithmetic alone: an activation that
// is replaced keeps its codes; all others keep what they do.
class Forecast {
 public:
  // The entries outlive this.
  Forecast(const std::vector<SavedTensor>& entries, Bits bits);

  // Kept inside an ActivationScope without rules.
  std::int64_t bytes() const;
  // A line for every kind of call, and one for the scope. Empty where there is no activation.
  std::string text() const;

 private:
  using Storages = std::set<std::int64_t>;

  // A call of an activation.
  struct Call {
    const SavedActivation* activation = nullptr;
    Storages kept;  // parameters apart
    bool keeps_input = false;
    bool keeps_output = false;
    Storages output;             // its output where it keeps that not and others go on to
    std::optional<Table> table;  // what would take its place, where something can
    bool replaced = false;       // by a scope without rules
  };
  struct Storage {
    std::int64_t bytes = 0;
    std::map<std::int64_t, std::string> keepers;  // node -> name
  };

  void add(const SavedTensor& saved);
  void choose_table(Call& call) const;
  std::int64_t sum(const Storages& storages) const;
  bool replaced(std::int64_t node) const;
  bool goes(std::int64_t storage, std::int64_t node) const;
  std::vector<std::string> others(const Call& call, std::int64_t node) const;
  std::vector<std::string> users(const Call& call) const;

  std::int64_t saved_by(std::int64_t node, const Call& call) const;
  std::string kept_text(std::int64_t node, const Call& call) const;
  std::string gain_text(std::int64_t node, const Call& call) const;
  std::string replaced_text(const Call& call) const;

  Bits bits_;
  std::map<std::int64_t, Call> calls_;  // by node, which is the order of calling
  std::map<std::int64_t, Storage> storages_;
};

}  // namespace fewbit::session
