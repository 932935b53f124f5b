#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "table/json.hpp"
#include "table/rounding.hpp"

/// Whatever is read is written canonically, reads back equal and can be rounded; nothing but Error
/// leaves the reader.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fewbit::solver;
  Table table;
  try {
    table = from_json({reinterpret_cast<const char*>(data), size});
  } catch (const fewbit::Error&) {
    return 0;
  }
  if (!(from_json(to_json(table)) == table)) std::abort();
  for (const DataType dtype : {DataType::fp32, DataType::bf16, DataType::fp16}) {
    const Table rounded = round_thresholds(table, dtype);
    if (!(from_json(to_json(rounded)) == rounded)) std::abort();
  }
  return 0;
}
