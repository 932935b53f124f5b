#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "report/document.hpp"

namespace fewbit::solver::contrast_test {

using Colours = std::map<std::string, std::string>;

/// The variables "--name:#rrggbb" of the page's style; those of the dark theme are the later ones.
Colours colours_of(const std::string& page, bool dark) {
  static const std::regex variable("--([a-z0-9]+):#([0-9a-f]{3,6})[;}]");
  Colours first;
  Colours last;
  for (std::sregex_iterator it(page.begin(), page.end(), variable), end; it != end; ++it) {
    std::string digits = (*it)[2];
    if (digits.size() == 3) {
      digits = {digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]};
    }
    first.emplace((*it)[1], digits);
    last[(*it)[1]] = digits;
  }
  return dark ? last : first;
}

/// Relative luminance as WCAG 2.1 defines it.
double luminance(const std::string& digits) {
  const auto channel = [&](size_t at) {
    const double value = std::stoi(digits.substr(at, 2), nullptr, 16) / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4);
}

double contrast(const std::string& a, const std::string& b) {
  const double first = luminance(a);
  const double second = luminance(b);
  return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

TEST(Contrast, IsMeasuredAsWcagDoes) {
  EXPECT_NEAR(contrast("000000", "ffffff"), 21.0, 1e-9);
  EXPECT_NEAR(contrast("777777", "ffffff"), 4.48, 0.005);
}

TEST(Contrast, OfTextAndMarksIsAtLeastFourAndAHalfInBothThemes) {
  const std::string page = to_html({"Title", "Summary.", {}});
  for (const bool dark : {false, true}) {
    const Colours colours = colours_of(page, dark);
    for (const char* ground : {"page", "card"}) {
      for (const char* ink :
           {"ink", "soft", "curve", "step", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"}) {
        ASSERT_TRUE(colours.contains(ground) && colours.contains(ink)) << ink;
        EXPECT_GE(contrast(colours.at(ink), colours.at(ground)), 4.5)
            << ink << " on " << ground << (dark ? ", dark" : ", light");
      }
    }
  }
}

}  // namespace fewbit::solver::contrast_test
