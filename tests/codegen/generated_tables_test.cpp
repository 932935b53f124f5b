// The committed tables in code against the committed files.
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "functions/quantizers.hpp"
#include "generated/functions.hpp"
#include "table/json.hpp"

namespace fewbit::generated_tables_test {

namespace fs = std::filesystem;
namespace math = generated::math;
using generated::StepTable;
using solver::Table;

struct Entry {
  std::string function;
  StepTable table;
};

#define FEWBIT_TABLE(function, table) \
  entries.push_back({#function, generated::function::tables::table});
std::vector<Entry> all_entries() {
  std::vector<Entry> entries;
#include "generated/registry.inc"
  return entries;
}

const std::string kFolder = FEWBIT_SOURCE_DIR "/tables/";

Table file_of(const Entry& entry) {
  return solver::read_table(kFolder + entry.function + "/" + entry.table.name + ".json");
}

int code_of(const StepTable& table, float x) {
  const float position = table.even ? std::fabs(x) : x;
  int interval = 0;
  for (int i = 0; i < table.threshold_count; ++i)
    interval += position > table.thresholds[i] ? 1 : 0;
  return table.codes[interval];
}

size_t files_below(const std::string& folder) {
  size_t count = 0;
  if (fs::exists(folder)) {
    for (const auto& file : fs::recursive_directory_iterator(folder)) {
      count += file.path().extension() == ".json" ? 1 : 0;
    }
  }
  return count;
}

TEST(GeneratedTables, AreAsManyAsTheFilesOfActivations) {
  size_t count = 0;
  for (const auto& function : fs::directory_iterator(kFolder)) {
    if (function.is_directory()) count += files_below(function.path().string());
  }
  for (const auto& quantizer : solver::quantizers()) count -= files_below(kFolder + quantizer.name);
  EXPECT_EQ(all_entries().size(), count);
}

TEST(GeneratedTables, GiveTheFilesCodesForEveryBfloat16) {
  for (const Entry& entry : all_entries()) {
    const Table file = file_of(entry);
    if (entry.table.codes == nullptr) continue;
    for (uint32_t bits = 0; bits < 0x10000u; ++bits) {
      const float x = math::from_bits(bits << 16);
      if (std::isnan(x)) continue;
      ASSERT_EQ(code_of(entry.table, x), file.codes[file.interval_of(static_cast<double>(x))])
          << entry.function << " " << entry.table.name << " at " << x;
    }
  }
}

TEST(GeneratedTables, KeepTheThresholdsMeaningForFloat) {
  for (const Entry& entry : all_entries()) {
    const Table file = file_of(entry);
    ASSERT_EQ(file.thresholds.size(), static_cast<size_t>(entry.table.threshold_count));
    for (size_t i = 0; i < file.thresholds.size(); ++i) {
      const float below = entry.table.thresholds[i];
      EXPECT_LE(static_cast<double>(below), file.thresholds[i]);
      EXPECT_GT(static_cast<double>(std::nextafter(below, INFINITY)), file.thresholds[i]);
    }
  }
}

TEST(GeneratedTables, CarryTheFilesLevelsBitsAndProof) {
  for (const Entry& entry : all_entries()) {
    const Table file = file_of(entry);
    EXPECT_EQ(entry.table.bits, file.bits());
    EXPECT_EQ(entry.table.error, file.error);
    EXPECT_EQ(entry.table.lower_bound, file.lower_bound);
    EXPECT_EQ(entry.table.codes == nullptr, file.problem.form == solver::Form::unbiased);
    ASSERT_EQ(file.levels.size(), static_cast<size_t>(entry.table.level_count));
    for (size_t i = 0; i < file.levels.size(); ++i) {
      EXPECT_EQ(entry.table.levels[i], static_cast<float>(file.levels[i]));
    }
  }
}

}  // namespace fewbit::generated_tables_test
