#include "examples/support/data.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

namespace fewbit::examples {

namespace {

constexpr int64_t kPixels = 64;

struct Rows {
  std::vector<float> pictures;
  std::vector<int64_t> digits;

  at::Tensor pictures_tensor() const { return at::tensor(pictures).view({-1, kPixels}); }
};

// 64 grey values and the digit.
void add_row(const std::string& line, Rows& rows) {
  std::istringstream cells(line);
  std::string cell;
  std::vector<float> values;
  while (std::getline(cells, cell, ',')) values.push_back(std::stof(cell));
  TORCH_CHECK(values.size() == kPixels + 1, "digits: a row of ", values.size(), " numbers, not 65");
  for (int64_t i = 0; i < kPixels; ++i) {
    rows.pictures.push_back(values[static_cast<size_t>(i)] / 16.0F);
  }
  rows.digits.push_back(static_cast<int64_t>(values.back()));
}

}  // namespace

Digits load_digits(const std::string& csv) {
  std::ifstream file(csv);
  TORCH_CHECK(file, "digits: cannot read ", csv);
  Rows train, test;
  std::string line;
  for (int64_t i = 0; std::getline(file, line); ++i) add_row(line, i % 5 == 4 ? test : train);
  TORCH_CHECK(train.digits.size() == 1438 && test.digits.size() == 359, "digits: ", csv, " has ",
              train.digits.size() + test.digits.size(), " rows, not 1797");
  return {train.pictures_tensor(), at::tensor(train.digits), test.pictures_tensor(),
          at::tensor(test.digits)};
}

std::string load_licences() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/share/common-licenses")) {
    if (entry.is_regular_file() && !entry.is_symlink()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string text;
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  TORCH_CHECK(text.size() >= 100'000, "licences: only ", text.size(), " bytes found");
  return text;
}

Batch draw_digits(const Digits& digits, int64_t size, std::mt19937_64& random) {
  const at::Tensor picked = at::empty({size}, at::kLong);
  std::uniform_int_distribution<int64_t> any(0, digits.train_digits.numel() - 1);
  std::generate_n(picked.mutable_data_ptr<int64_t>(), size, [&] { return any(random); });
  return {digits.train_pictures.index_select(0, picked),
          digits.train_digits.index_select(0, picked)};
}

Batch draw_text(const std::string& text, int64_t size, int64_t context, std::mt19937_64& random) {
  Batch batch{at::empty({size, context}, at::kLong), at::empty({size, context}, at::kLong)};
  int64_t* input = batch.inputs.mutable_data_ptr<int64_t>();
  int64_t* target = batch.targets.mutable_data_ptr<int64_t>();
  std::uniform_int_distribution<size_t> any(0, text.size() - static_cast<size_t>(context) - 1);
  for (int64_t piece = 0; piece < size; ++piece) {
    const size_t start = any(random);
    for (size_t i = start; i < start + static_cast<size_t>(context); ++i) {
      *input++ = static_cast<unsigned char>(text[i]);
      *target++ = static_cast<unsigned char>(text[i + 1]);
    }
  }
  return batch;
}

}  // namespace fewbit::examples
