#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace fewbit::examples {

/// Scikit-learn's digits: 1,797 pictures of 8 x 8 grey values 0 to 16 (here 0 to 1) and their
/// digit. Every fifth picture is for the test.
struct Digits {
  at::Tensor train_pictures;  ///< float32 [1438, 64]
  at::Tensor train_digits;    ///< int64 [1438]
  at::Tensor test_pictures;   ///< float32 [359, 64]
  at::Tensor test_digits;     ///< int64 [359]
};

/// Throws c10::Error where the file is not that.
Digits load_digits(const std::string& csv);

/// The licences of /usr/share/common-licenses one after another, by name; links left out. Throws
/// c10::Error where they come to less than 100 KB.
std::string load_licences();

/// Inputs and what is to be predicted from them.
struct Batch {
  at::Tensor inputs;
  at::Tensor targets;
};

/// `size` pictures drawn with replacement.
Batch draw_digits(const Digits& digits, int64_t size, std::mt19937_64& random);

/// `size` pieces of the text, and the same one byte on.
Batch draw_text(const std::string& text, int64_t size, int64_t context, std::mt19937_64& random);

}  // namespace fewbit::examples
