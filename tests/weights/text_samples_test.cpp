#include <cmath>

#include "tests/weights/support.hpp"

namespace fewbit::solver {
namespace {

WeightSpec read_csv(const std::string& text) {
  return read_text(SampleFormat::csv, text);
}

std::string refusal(const std::string& text) {
  return message_of([&] { read_csv(text); });
}

TEST(CsvSamples, AreTheSameInEveryLayout) {
  const auto expected = read_text(SampleFormat::raw, little_endian_bytes<float>({1, 2, 3.5, -4}));
  for (const char* text : {"1,2,3.5,-4", "1\n2\n3.5\n-4\n", "1,2\n3.5,-4\n", "x\n1\n2\n3.5\n-4",
                           "\"a\",b\n1,2\n3.5,-4", "# c\n\n 1 , 2 \r\n+3.5e0\t-4.0 # end",
                           "\xEF\xBB\xBF"
                           "1,2,3.5,-4",
                           "1,2,\n3.5,-4,\n"}) {
    EXPECT_EQ(read_csv(text), expected) << text;
  }
}

TEST(CsvSamples, MayFillOneEndlessLine) {
  std::string text = "0";
  for (int i = 1; i < 100000; ++i) text += "," + std::to_string(i % 7);
  const auto spec = read_csv(text);
  EXPECT_EQ(spec.edges.back(), 6.0);
  EXPECT_NEAR(spec.masses.front(), 1.0 / 7.0, 1e-5);
}

TEST(CsvSamples, RefuseWhatIsNotANumberWithItsLine) {
  EXPECT_EQ(refusal("1\n2\nabc\n"), "data: line 3: 'abc' is not a number");
  EXPECT_EQ(refusal("x\ny\n1\n"), "data: line 2: 'y' is not a number");
  EXPECT_EQ(refusal("1.5.2,3\n"), "data: line 1: '1.5.2' is not a number");
  EXPECT_EQ(refusal("1,,2\n"), "data: line 1: a field is empty");
  EXPECT_EQ(refusal("1\n" + std::string(500, '[')),
            "data: line 2: '[[[[[[[[[[[[[[[[[[[[...' is not a number");
}

TEST(CsvSamples, RefuseNothing) {
  EXPECT_EQ(refusal(""), "data: is empty: no samples");
  EXPECT_EQ(refusal("a,b\n# only a header\n"), "data: is empty: no samples");
}

TEST(Samples, NameTheFirstIndexThatIsNotFinite) {
  EXPECT_EQ(refusal("1,2,nan,inf"),
            "data: sample 2 (counted from 0) is nan, accepted are numbers within +-1e+100");
  const auto raw = little_endian_bytes<float>({1.0F, -INFINITY, NAN});
  EXPECT_EQ(message_of([&] { read_text(SampleFormat::raw, raw); }),
            "data: sample 1 (counted from 0) is -inf, accepted are numbers within +-1e+100");
  EXPECT_EQ(refusal("1e200,1"),
            "data: sample 0 (counted from 0) is 1e+200, accepted are numbers within +-1e+100");
}

TEST(Samples, NeedSpread) {
  EXPECT_EQ(refusal("7,7,7"), "data: has no spread: all samples lie from 7 to 7");
  EXPECT_EQ(refusal("1,1.0000000000000002"),
            "data: has no spread: all samples lie from 1 to 1.0000000000000002");
}

TEST(RawSamples, AreWholeFloats) {
  EXPECT_EQ(message_of([] { read_text(SampleFormat::raw, "12345"); }),
            "data: holds 5 bytes, not a multiple of 4");
  EXPECT_EQ(message_of([] { read_text(SampleFormat::raw, ""); }), "data: is empty: no samples");
}

TEST(SampleFormats, FollowTheEndingOfTheName) {
  EXPECT_EQ(sample_format("a/b.npy"), SampleFormat::npy);
  EXPECT_EQ(sample_format("b.csv"), SampleFormat::csv);
  EXPECT_EQ(sample_format("b.f32"), SampleFormat::raw);
  EXPECT_EQ(sample_format("b.raw"), SampleFormat::raw);
  EXPECT_EQ(message_of([] { sample_format("b.pt"); }),
            "b.pt: samples are read from .npy, .csv, .f32 or .raw files");
}

}  // namespace
}  // namespace fewbit::solver
