#include "meter/explanation.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include <c10/core/ScalarType.h>

#include "text/names.hpp"
#include "text/table.hpp"

namespace fewbit::session {
namespace {

std::string percent(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return "-";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%",
                100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text.data();
}

// Tensors that read the same in the table.
struct Row {
  const SavedTensor* example = nullptr;
  std::set<std::int64_t> calls;
  std::map<std::int64_t, std::int64_t> storages;  // number -> bytes
  std::int64_t bytes = 0;
  std::int64_t only_here = 0;
};

using RowKey = std::tuple<std::string, std::string, std::string, c10::ScalarType>;

RowKey key_of(const SavedTensor& saved) {
  return {saved.operation, saved.maker, shape_text(saved.shape), saved.dtype};
}

// What several operations save, or one several times.
struct Storage {
  const SavedTensor* example = nullptr;
  std::set<RowKey> rows;
  std::vector<std::string> keepers;  // each once, in the order of saving
};

std::map<std::int64_t, Storage> storages_of(const std::vector<SavedTensor>& entries) {
  std::map<std::int64_t, Storage> storages;
  for (const SavedTensor& saved : entries) {
    if (saved.parameter) continue;
    Storage& storage = storages[saved.storage];
    if (storage.example == nullptr) storage.example = &saved;
    storage.rows.insert(key_of(saved));
    const std::string keeper = short_name(saved.operation);
    if (std::ranges::find(storage.keepers, keeper) == storage.keepers.end()) {
      storage.keepers.push_back(keeper);
    }
  }
  return storages;
}

// Greatest first, then in the order of saving.
std::vector<Row> rows_of(const std::vector<SavedTensor>& entries,
                         const std::map<std::int64_t, Storage>& storages) {
  std::map<RowKey, std::size_t> places;
  std::vector<Row> rows;
  for (const SavedTensor& saved : entries) {
    if (saved.parameter) continue;
    const auto [place, is_new] = places.try_emplace(key_of(saved), rows.size());
    if (is_new) rows.emplace_back().example = &saved;
    Row& row = rows[place->second];
    row.calls.insert(saved.node);
    if (!row.storages.emplace(saved.storage, saved.bytes).second) continue;
    row.bytes += saved.bytes;
    if (storages.at(saved.storage).rows.size() == 1) row.only_here += saved.bytes;
  }
  std::ranges::stable_sort(rows, std::ranges::greater{}, &Row::bytes);
  return rows;
}

std::vector<std::string> cells_of(const Row& row, std::int64_t total) {
  const SavedTensor& saved = *row.example;
  const bool own = saved.maker_node == saved.node;
  return {short_name(saved.operation),
          std::to_string(row.calls.size()),
          shape_text(saved.shape),
          c10::toString(saved.dtype),
          own ? "itself" : short_name(saved.maker),
          grouped(row.bytes),
          grouped(row.only_here),
          percent(row.bytes, total)};
}

// What the reader must know before making one of the operations save fewer bytes for backward.
std::string sharing_line(const Storage& storage) {
  const SavedTensor& saved = *storage.example;
  const std::string maker = short_name(saved.maker);
  std::vector<std::string> others = storage.keepers;
  const auto self = std::ranges::find(others, maker);
  const std::string what = shape_text(saved.shape) + " " + c10::toString(saved.dtype);
  if (self == others.end()) {
    return joined(others) + " keep the same " + what + ", made by " + maker;
  }
  others.erase(self);
  return maker + " keeps its output " + what + ", which " + joined(others) +
         (others.size() == 1 ? " keeps anyway" : " keep anyway");
}

void print_sharing(std::ostream& out, const std::map<std::int64_t, Storage>& storages) {
  struct Line {
    std::int64_t times = 0;
    std::int64_t bytes = 0;
  };
  std::map<std::string, Line> lines;
  for (const auto& [number, storage] : storages) {
    if (storage.keepers.size() < 2) continue;
    Line& line = lines[sharing_line(storage)];
    ++line.times;
    line.bytes += storage.example->bytes;
  }
  if (!lines.empty()) out << "\nkept by several operations, gone only when none keeps it:\n";
  for (const auto& [text, line] : lines) {
    out << "  " << text << ": " << grouped(line.bytes) << " bytes";
    if (line.times > 1) out << " in " << line.times << " storages";
    out << '\n';
  }
}

}  // namespace

std::string explain_saved(const std::vector<SavedTensor>& entries) {
  const std::map<std::int64_t, Storage> storages = storages_of(entries);
  std::int64_t total = 0;
  for (const auto& [number, storage] : storages) total += storage.example->bytes;
  std::map<std::int64_t, std::int64_t> parameters;
  for (const SavedTensor& saved : entries) {
    if (saved.parameter) parameters[saved.storage] = saved.bytes;
  }
  std::int64_t parameter_bytes = 0;
  for (const auto& [number, bytes] : parameters) parameter_bytes += bytes;

  const auto counted = [](std::size_t count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
  };
  std::ostringstream out;
  out << "autograd keeps " << grouped(total) << " bytes in " << counted(storages.size(), "storage")
      << " for backward, and " << grouped(parameter_bytes) << " bytes of "
      << counted(parameters.size(), "parameter")
      << (parameters.size() == 1 ? " that lives" : " that live") << " anyway\n";
  if (storages.empty()) return out.str();

  constexpr auto kRight = TextTable::Side::right;
  TextTable table({{"operation"},
                   {"calls", kRight},
                   {"keeps"},
                   {"type"},
                   {"made by"},
                   {"bytes", kRight},
                   {"only here", kRight},
                   {"share", kRight}});
  for (const Row& row : rows_of(entries, storages)) table.add(cells_of(row, total));
  table.add({"all, each once", "", "", "", "", grouped(total), "", "100.0 %"});
  out << '\n' << table.text();
  print_sharing(out, storages);
  return out.str();
}

}  // namespace fewbit::session
