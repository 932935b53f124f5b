#include "session/saved_bytes_forecast.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include "ops/activation.hpp"
#include "session/activation_call.hpp"
#include "session/saved_bytes_text.hpp"
#include "session/text_table.hpp"

namespace fewbit::session {
namespace {

constexpr std::int64_t kNoNode = -1;

std::string bytes_text(std::int64_t bytes) {
  return grouped(bytes) + " bytes";
}

std::string bits_text(const Table& table) {
  const int bits = table.bits();
  return std::to_string(bits) + (bits == 1 ? " bit saves " : " bits save ");
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

std::string keep_text(const std::vector<std::string>& names) {
  return joined(names) + (names.size() == 1 ? " keeps" : " keep");
}

std::string head_text(const SavedActivation& activation) {
  return activation.function + " " + shape_text(activation.shape) + " " +
         c10::toString(activation.dtype);
}

// " (13 of 32 bits per element)", where these are whole numbers.
std::string per_element(std::int64_t freed, std::int64_t all, const Table& table,
                        std::int64_t elements) {
  if (elements == 0 || freed * 8 % elements != 0 || all * 8 % elements != 0) return "";
  return " (" + std::to_string(freed * 8 / elements - table.bits()) + " of " +
         std::to_string(all * 8 / elements) + " bits per element)";
}

}  // namespace

Forecast::Forecast(const std::vector<SavedTensor>& entries, Bits bits) : bits_(bits) {
  TORCH_CHECK(bits.count >= 1 && bits.count <= 8, "fewbit::SavedBytes: ", bits.count,
              " bits, accepted: 1 to 8");
  for (const SavedTensor& saved : entries) add(saved);
  for (auto& [node, call] : calls_) choose_table(call);
  // An activation's output, kept as it came out.
  for (const SavedTensor& saved : entries) {
    const auto maker = calls_.find(saved.maker_node);
    if (saved.parameter || maker == calls_.end() || saved.node == saved.maker_node) continue;
    if (maker->second.kept.contains(saved.storage) || goes(saved.storage, kNoNode)) continue;
    maker->second.output.insert(saved.storage);
  }
}

void Forecast::add(const SavedTensor& saved) {
  if (!saved.parameter) {
    Storage& storage = storages_[saved.storage];
    storage.bytes = saved.bytes;
    storage.keepers.emplace(saved.node, short_name(saved.operation));
  }
  if (saved.activation == nullptr) return;
  Call& call = calls_[saved.node];
  call.activation = saved.activation.get();
  if (!saved.parameter) call.kept.insert(saved.storage);
  call.keeps_output = call.keeps_output || saved.is_output;
  // What it made itself beside its output, such as log_sigmoid's exponentials, has no other maker.
  call.keeps_input = call.keeps_input || (!saved.is_output && saved.maker_node != saved.node);
}

void Forecast::choose_table(Call& call) const {
  const SavedActivation& activation = *call.activation;
  if (!activation.replaceable) return;
  std::string reason;
  call.table = standard_or_reason(activation.function, bits_, activation.parameters, reason);
  call.replaced = call.table && !needs_rule(activation.function);
}

std::int64_t Forecast::sum(const Storages& storages) const {
  std::int64_t bytes = 0;
  for (const std::int64_t storage : storages) bytes += storages_.at(storage).bytes;
  return bytes;
}

bool Forecast::replaced(std::int64_t node) const {
  const auto call = calls_.find(node);
  return call != calls_.end() && call->second.replaced;
}

// Nobody keeps the storage once `node` and all that a scope replaces keep codes.
bool Forecast::goes(std::int64_t storage, std::int64_t node) const {
  return std::ranges::all_of(storages_.at(storage).keepers, [&](const auto& keeper) {
    return keeper.first == node || replaced(keeper.first);
  });
}

// Who else keeps what the call does: names, each once.
std::vector<std::string> Forecast::others(const Call& call, std::int64_t node) const {
  std::vector<std::string> names;
  for (const std::int64_t storage : call.kept) {
    for (const auto& [keeper, name] : storages_.at(storage).keepers) {
      if (keeper != node) add_once(names, name);
    }
  }
  return names;
}

// Who keeps the call's output, also in a scope.
std::vector<std::string> Forecast::users(const Call& call) const {
  std::vector<std::string> names;
  for (const std::int64_t storage : call.output) {
    for (const auto& [keeper, name] : storages_.at(storage).keepers) {
      if (!replaced(keeper)) add_once(names, name);
    }
  }
  return names;
}

std::int64_t Forecast::bytes() const {
  std::int64_t bytes = 0;
  for (const auto& [number, storage] : storages_) {
    if (!goes(number, kNoNode)) bytes += storage.bytes;
  }
  for (const auto& [node, call] : calls_) {
    if (call.replaced) bytes += ops::code_bytes(call.activation->elements, call.table->bits());
  }
  return bytes;
}

// Only where there is a table.
std::int64_t Forecast::saved_by(std::int64_t node, const Call& call) const {
  std::int64_t bytes = 0;
  for (const std::int64_t storage : call.kept) {
    if (goes(storage, node)) bytes += storages_.at(storage).bytes;
  }
  return bytes - ops::code_bytes(call.activation->elements, call.table->bits());
}

std::string Forecast::kept_text(std::int64_t node, const Call& call) const {
  const SavedActivation& activation = *call.activation;
  std::string text = "keeps ";
  text += call.keeps_output     ? "its output"
          : activation.in_place ? "a copy of its input"
                                : "its input";
  if (call.kept.size() > 1) text += " and what it computed of it";
  if (call.kept.empty()) return text + ", which lives anyway";
  text += ", " + bytes_text(sum(call.kept));
  const std::vector<std::string> names = others(call, node);
  if (!names.empty()) text += ", which " + keep_text(names) + " too";
  if (call.output.empty()) return text;
  return text + "; " + keep_text(users(call)) + " its output anyway, " +
         bytes_text(sum(call.output));
}

std::string Forecast::gain_text(std::int64_t node, const Call& call) const {
  const SavedActivation& activation = *call.activation;
  const std::int64_t all = sum(call.kept) + sum(call.output);
  std::string text;
  std::int64_t saved = 0;
  if (call.table) {
    saved = saved_by(node, call);
    const std::int64_t codes = ops::code_bytes(activation.elements, call.table->bits());
    if (saved > 0) {
      text = ": " + bits_text(*call.table) + grouped(saved) + " of " + bytes_text(all) +
             per_element(saved + codes, all, *call.table, activation.elements);
      if (call.table->data().error == 0.0) text += ", exactly";
      if (!call.replaced) {
        text += ", in a scope by rule(\"" + activation.function + "\", Bits{" +
                std::to_string(call.table->bits()) + "})";
      }
    } else {
      text = ": nothing to gain";
      if (call.replaced && saved < 0) {
        text += ", codes would add " + bytes_text(-saved) + ": leave_alone(\"" +
                activation.function + "\")";
      }
    }
  }
  const std::int64_t rebuilt = sum(call.output);
  if (call.keeps_input && rebuilt > std::max<std::int64_t>(saved, 0)) {
    text += "; rebuilding the output from the input in backward would save " + grouped(rebuilt) +
            ", exactly";
  }
  return text;
}

// Of this library: codes are there already.
std::string Forecast::replaced_text(const Call& call) const {
  const SavedActivation& activation = *call.activation;
  const std::int64_t codes = ops::code_bytes(activation.elements, activation.bits);
  std::string text = "keeps " + std::to_string(activation.bits) +
                     (activation.bits == 1 ? " bit" : " bits") + " per element, " +
                     bytes_text(codes);
  if (call.output.empty()) return text;
  text += "; " + keep_text(users(call)) + " its output anyway, " + bytes_text(sum(call.output));
  const auto input =
      activation.elements * static_cast<std::int64_t>(c10::elementSize(activation.dtype));
  const std::int64_t less = codes + sum(call.output) - input;
  if (less <= 0) return text;
  return text + "; keeping the input alone, " + bytes_text(input) +
         ", and rebuilding the output from it in backward would save " + grouped(less) +
         ", exactly";
}

std::string Forecast::text() const {
  if (calls_.empty()) return "";
  std::vector<std::pair<std::array<std::string, 2>, int>> lines;  // head and rest, how often
  bool any_torchs = false;
  for (const auto& [node, call] : calls_) {
    const bool ours = call.activation->bits > 0;
    any_torchs = any_torchs || !ours;
    const std::array<std::string, 2> line{
        head_text(*call.activation),
        ours ? replaced_text(call) : kept_text(node, call) + gain_text(node, call)};
    const auto known = std::ranges::find(lines, line, &decltype(lines)::value_type::first);
    if (known == lines.end()) {
      lines.emplace_back(line, 1);
    } else {
      ++known->second;
    }
  }
  std::ostringstream out;
  out << "\nactivations:\n";
  for (const auto& [line, times] : lines) {
    out << "  " << line[0];
    if (times > 1) out << ", " << times << " calls, each";
    out << ": " << line[1] << '\n';
  }
  if (!any_torchs) return out.str();
  std::int64_t now = 0;
  for (const auto& [number, storage] : storages_) now += storage.bytes;
  out << "with ActivationScope at " << bits_.count << (bits_.count == 1 ? " bit" : " bits")
      << " this forward would keep " << bytes_text(bytes()) << " instead of " << grouped(now)
      << '\n';
  return out.str();
}

}  // namespace fewbit::session
