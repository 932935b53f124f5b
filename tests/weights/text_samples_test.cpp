#include <cmath>

#include "tests/weights/support.hpp"

namespace fewbit::solver::text_samples_test {
WeightSpec read_csv(const std::string& text) {
  return read_text(kCsv, text);
}

std::string refusal(const std::string& text) {
  return message_of([&] { read_csv(text); });
}

TEST(CsvSamples, AreTheSameInEveryLayout) {
  const auto expected = read_text(kRaw, little_endian_bytes<float>({1, 2, 3.5, -4}));
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
  EXPECT_EQ(spec.masses.size(), 13u) << "seven numbers and what is between them";
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
  EXPECT_EQ(message_of([&] { read_text(kRaw, raw); }),
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
  EXPECT_EQ(message_of([] { read_text(kRaw, "12345"); }),
            "data: holds 5 bytes, not a multiple of 4");
  EXPECT_EQ(message_of([] { read_text(kRaw, ""); }), "data: is empty: no samples");
}

TEST(RawSamples, AreOfTheTypeThatIsNamed) {
  const auto expected = read_text(kRaw, little_endian_bytes<float>({1, -2, 3.5}));
  const auto raw = [](ItemType::Kind items, const std::string& text) {
    return read_text({SampleFormat::Kind::raw, items}, text);
  };
  EXPECT_EQ(raw(ItemType::Kind::f64, little_endian_bytes<double>({1, -2, 3.5})), expected);
  EXPECT_EQ(raw(ItemType::Kind::bf16, std::string("\x80\x3f\x00\xc0\x60\x40", 6)), expected);
  EXPECT_EQ(raw(ItemType::Kind::f16, std::string("\x00\x3c\x00\xc0\x00\x43", 6)), expected);
  EXPECT_EQ(message_of([&] { raw(ItemType::Kind::f16, "abc"); }),
            "data: holds 3 bytes, not a multiple of 2");
}

TEST(SampleFormats, FollowTheEndingOfTheName) {
  EXPECT_EQ(sample_format("a/b.npy").kind, SampleFormat::Kind::npy);
  EXPECT_EQ(sample_format("b.csv").kind, SampleFormat::Kind::csv);
  EXPECT_EQ(sample_format("b.f32").kind, SampleFormat::Kind::raw);
  EXPECT_EQ(sample_format("b.raw").kind, SampleFormat::Kind::raw);
  EXPECT_EQ(message_of([] { sample_format("b.pt"); }),
            "b.pt: samples are read from .npy, .npz, .csv, .f32 or .raw files; say what this one "
            "is by --sample-format");
}
}  // namespace fewbit::solver::text_samples_test
