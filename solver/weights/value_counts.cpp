#include "weights/value_counts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "weights/sample_cells.hpp"

namespace fewbit::solver {

namespace {

constexpr size_t kSlotBits = 12;
constexpr size_t kSlots = size_t{1} << kSlotBits;
static_assert(kSlots >= 2 * kMostValues, "a free slot must remain");
constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio

}  // namespace

ValueCounts::ValueCounts() : slots_(kSlots) {}

ValueCounts::Slot& ValueCounts::slot_of(double value) {
  const auto hash = std::bit_cast<std::uint64_t>(value) * kMultiplier;
  size_t at = hash >> (64 - kSlotBits);
  while (slots_[at].count > 0 && slots_[at].value != value) at = (at + 1) % kSlots;
  return slots_[at];
}

void ValueCounts::add(std::span<const double> block) {
  for (const double sample : block) {
    if (used_ > kMostValues) return;
    Slot& slot = slot_of(std::fabs(sample) < kLeastSample ? 0.0 : sample);
    if (slot.count == 0) {
      slot.value = std::fabs(sample) < kLeastSample ? 0.0 : sample;
      ++used_;
    }
    ++slot.count;
  }
  total_ += block.size();
}

std::vector<ValueMass> ValueCounts::shares(const Domain& ends) const {
  if (used_ > kMostValues) return {};
  std::vector<Slot> slots;
  for (const Slot& slot : slots_) {
    if (slot.count > 0) slots.push_back({std::clamp(slot.value, ends.lo, ends.hi), slot.count});
  }
  std::sort(slots.begin(), slots.end(),
            [](const Slot& a, const Slot& b) { return a.value < b.value; });
  std::vector<Slot> joined;
  for (const Slot& slot : slots) {
    if (!joined.empty() && joined.back().value == slot.value) {
      joined.back().count += slot.count;
    } else {
      joined.push_back(slot);
    }
  }
  std::vector<ValueMass> result;
  for (const Slot& slot : joined) {
    result.push_back({slot.value, static_cast<double>(slot.count) / static_cast<double>(total_)});
  }
  return result;
}

}  // namespace fewbit::solver
