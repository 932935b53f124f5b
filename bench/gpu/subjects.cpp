#include "bench/gpu/subjects.hpp"

#include <algorithm>
#include <string_view>

#include "generated/functions.hpp"

namespace fewbit::bench {

namespace {

using generated::StepTable;
using kernels::StepView;

struct Entry {
  std::string_view function;
  const StepTable* table;
};

#define FEWBIT_TABLE(function, table) {#function, &generated::function::tables::table},
constexpr Entry kEntries[] = {
#include "generated/registry.inc"
};

const StepTable* find(std::string_view function, const std::string& table) {
  const auto found = std::ranges::find_if(kEntries, [&](const Entry& entry) {
    return entry.function == function && entry.table->name == table;
  });
  return found == std::end(kEntries) ? nullptr : found->table;
}

/// 256 levels on [-4, 4].
StepView even_steps() {
  static float thresholds[255];
  static uint8_t codes[256];
  static float levels[256];
  for (int i = 0; i < 256; ++i) {
    if (i < 255) thresholds[i] = static_cast<float>(i - 127) / 32.0f;
    codes[i] = static_cast<uint8_t>(i);
    levels[i] = static_cast<float>(i) / 255.0f;
  }
  return {8, false, 255, thresholds, codes, 256, levels};
}

}  // namespace

std::vector<GpuSubject> subjects_of(const std::string& function) {
  std::vector<GpuSubject> subjects;
  const auto* activation = kernels::cuda::find_activation(function);
  if (activation == nullptr) return subjects;
  const auto add = [&](const std::string& name, bool is_unbiased) {
    const StepTable* table = find(function, name);
    if (table == nullptr) return false;
    const StepView steps = {table->bits,       table->even,  table->threshold_count,
                            table->thresholds, table->codes, table->level_count,
                            table->levels};
    subjects.push_back({activation, name, table->bits, is_unbiased, steps});
    return true;
  };
  for (const char* bits : {"1", "2", "3", "4"}) {
    for (const char* kind : {"smoothed_normal_b", "levels_normal_b", "levels_uniform_b"}) {
      if (add(std::string(kind) + bits, false)) break;
    }
  }
  if (add("unbiased_normal_b3", true)) {
    subjects.push_back({activation, "256 even levels", 8, false, even_steps()});
  }
  return subjects;
}

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const auto& activation : kernels::cuda::activations()) names.push_back(activation.name);
  return names;
}

}  // namespace fewbit::bench
