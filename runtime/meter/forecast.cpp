#include "meter/forecast.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include <c10/util/Exception.h>

#include "codecs/codec.hpp"
#include "ops/activation.hpp"
#include "text/names.hpp"
#include "text/table.hpp"

namespace fewbit::session {
namespace {

std::string bytes_text(std::int64_t bytes) {
  return grouped(bytes) + " bytes";
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

std::string keep_text(const std::vector<std::string>& names) {
  return joined(names) + (names.size() == 1 ? " keeps" : " keep");
}

// " (13 of 32 bits per element)", where these are whole numbers.
std::string per_element(std::int64_t freed, std::int64_t all, std::int64_t bits,
                        std::int64_t elements) {
  if (elements == 0 || freed * 8 % elements != 0 || all * 8 % elements != 0) return "";
  return " (" + std::to_string(freed * 8 / elements - bits) + " of " +
         std::to_string(all * 8 / elements) + " bits per element)";
}

}  // namespace

Forecast::Forecast(const std::vector<SavedTensor>& entries, Bits bits) : bits_(bits) {
  TORCH_CHECK(bits.count >= 1 && bits.count <= 8, "fewbit::SavedBytes: ", bits.count,
              " bits, accepted: 1 to 8");
  for (const SavedTensor& saved : entries) add(saved);
  for (auto& [node, call] : calls_) call.replacement = call.call->replacement(bits, call.kept);
  // A call's output, saved as it came out.
  for (const SavedTensor& saved : entries) {
    const auto maker = calls_.find(saved.maker_node);
    if (saved.parameter || maker == calls_.end() || saved.node == saved.maker_node) continue;
    if (maker->second.kept.contains(saved.storage) || goes(saved.storage)) continue;
    maker->second.output.insert(saved.storage);
  }
}

void Forecast::add(const SavedTensor& saved) {
  if (!saved.parameter) {
    Storage& storage = storages_[saved.storage];
    storage.bytes = saved.bytes;
    storage.keepers.emplace(saved.node, short_name(saved.operation));
  }
  if (saved.call == nullptr) return;
  Call& call = calls_[saved.node];
  call.call = saved.call.get();
  if (!saved.parameter) call.kept.insert(saved.storage);
  call.keeps_output = call.keeps_output || saved.is_output;
  // What it made itself besides its output, such as log_sigmoid's exponentials, has no other maker.
  call.keeps_input = call.keeps_input || (!saved.is_output && saved.maker_node != saved.node);
}

std::int64_t Forecast::sum(const Storages& storages) const {
  std::int64_t bytes = 0;
  for (const std::int64_t storage : storages) bytes += storages_.at(storage).bytes;
  return bytes;
}

// The node saves the storage no more, unasked.
bool Forecast::freed(std::int64_t storage, std::int64_t node) const {
  const auto call = calls_.find(node);
  return call != calls_.end() && call->second.replaced() &&
         call->second.replacement->frees.contains(storage);
}

// Nobody saves the storage once all is replaced that is so unasked, and `also`.
bool Forecast::goes(std::int64_t storage, const Call* also) const {
  return std::ranges::all_of(storages_.at(storage).keepers, [&](const auto& keeper) {
    const auto call = calls_.find(keeper.first);
    return freed(storage, keeper.first) || (call != calls_.end() && &call->second == also);
  });
}

// Who else saves what the call does: names, each once.
std::vector<std::string> Forecast::others(const Call& call, std::int64_t node) const {
  std::vector<std::string> names;
  for (const std::int64_t storage : call.kept) {
    for (const auto& [keeper, name] : storages_.at(storage).keepers) {
      if (keeper != node) add_once(names, name);
    }
  }
  return names;
}

// Who saves the call's output, also in a scope.
std::vector<std::string> Forecast::users(const Call& call) const {
  std::vector<std::string> names;
  for (const std::int64_t storage : call.output) {
    for (const auto& [keeper, name] : storages_.at(storage).keepers) {
      if (!freed(storage, keeper)) add_once(names, name);
    }
  }
  return names;
}

std::int64_t Forecast::bytes() const {
  std::int64_t bytes = 0;
  for (const auto& [number, storage] : storages_) {
    if (!goes(number)) bytes += storage.bytes;
  }
  for (const auto& [node, call] : calls_) {
    if (call.replaced()) bytes += call.replacement->keeps_bytes;
  }
  return bytes;
}

// By its replacement.
std::int64_t Forecast::saved_by(const Call& call) const {
  std::int64_t bytes = 0;
  for (const std::int64_t storage : call.replacement->frees) {
    if (goes(storage, &call)) bytes += storages_.at(storage).bytes;
  }
  return bytes - call.replacement->keeps_bytes;
}

std::string Forecast::kept_text(std::int64_t node, const Call& call) const {
  std::string text = "keeps ";
  text += call.keeps_output     ? "its output"
          : call.call->in_place ? "a copy of its input"
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

std::string Forecast::gain_text(const Call& call) const {
  std::string text;
  std::int64_t saved = 0;
  if (const auto& replacement = call.replacement) {
    const std::int64_t all = sum(call.kept) + sum(call.output);
    saved = saved_by(call);
    if (saved > 0) {
      text = ": " + replacement->text + " " + grouped(saved) + " of " + bytes_text(all) +
             per_element(saved + replacement->keeps_bytes, all, replacement->element_bits,
                         call.call->elements);
      if (replacement->exact) text += ", exactly";
      if (!replacement->request.empty()) text += ", " + replacement->request;
    } else {
      text = ": nothing to gain";
      if (call.replaced() && saved < 0) {
        text += ", codes would add " + bytes_text(-saved) + ": " + replacement->refusal;
      }
    }
  }
  const std::int64_t recomputed = sum(call.output);
  if (call.keeps_input && recomputed > std::max<std::int64_t>(saved, 0)) {
    text += "; rebuilding the output from the input in backward would save " + grouped(recomputed) +
            ", exactly";
  }
  return text;
}

// Codes are there already.
std::string Forecast::coded_text(const Call& call) const {
  const int bits = *call.call->coded_bits;
  const std::int64_t codes = ops::code_bytes(call.call->elements, bits);
  std::string text = "keeps " + codecs::bits_text(bits) + " per element, " + bytes_text(codes);
  if (call.output.empty()) return text;
  text += "; " + keep_text(users(call)) + " its output anyway, " + bytes_text(sum(call.output));
  const std::int64_t input = call.call->input_bytes;
  const std::int64_t less = codes + sum(call.output) - input;
  if (less <= 0) return text;
  return text + "; keeping the input alone, " + bytes_text(input) + ", and rebuilding the output " +
         "from it in backward would save " + grouped(less) + ", exactly";
}

std::string Forecast::text() const {
  if (calls_.empty()) return "";
  std::vector<std::pair<std::array<std::string, 2>, int>> lines;  // head and rest, how often
  bool all_coded = true;
  for (const auto& [node, call] : calls_) {
    const bool coded = call.call->coded_bits.has_value();
    all_coded = all_coded && coded;
    const std::array<std::string, 2> line{
        call.call->text, coded ? coded_text(call) : kept_text(node, call) + gain_text(call)};
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
  if (all_coded) return out.str();
  std::int64_t now = 0;
  for (const auto& [number, storage] : storages_) now += storage.bytes;
  out << "with ActivationScope at " << codecs::bits_text(bits_.count) << " this forward would keep "
      << bytes_text(bytes()) << " instead of " << grouped(now) << '\n';
  return out.str();
}

}  // namespace fewbit::session
