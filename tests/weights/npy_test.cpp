#include "tests/weights/support.hpp"

namespace fewbit::solver {
namespace {

const std::vector<float> kValues = {-1.0F, 0.5F, 2.0F, 3.0F, 3.5F, 4.0F};
const std::string kData = little_endian_bytes(kValues);

WeightSpec read_npy(const std::string& text) {
  return read_text(SampleFormat::npy, text);
}

std::string refusal(const std::string& text) {
  return message_of([&] { read_npy(text); });
}

std::string refused_header(const std::string& dictionary) {
  return refusal(npy_text(dictionary, kData));
}

TEST(Npy, ReadsEveryVersionAndBothWidths) {
  const auto expected = read_text(SampleFormat::raw, kData);
  const auto wide = little_endian_bytes(std::vector<double>(kValues.begin(), kValues.end()));
  for (const char version : {char{1}, char{2}, char{3}}) {
    EXPECT_EQ(read_npy(npy_text(npy_dictionary("<f4", "(6,)"), kData, version)), expected);
    EXPECT_EQ(read_npy(npy_text(npy_dictionary("<f8", "(6,)"), wide, version)), expected);
  }
}

TEST(Npy, TakesAnyShape) {
  const auto expected = read_text(SampleFormat::raw, kData);
  for (const char* shape : {"(6,)", "(6)", "(1, 2, 3)", "(1,6)"}) {
    EXPECT_EQ(read_npy(npy_text(npy_dictionary("<f4", shape), kData)), expected) << shape;
  }
}

TEST(Npy, TakesKeysInAnyOrderAndEitherQuote) {
  const std::string text = R"({"shape":(6,),"fortran_order":True,"descr":"<f4"})";
  EXPECT_EQ(read_npy(npy_text(text, kData)), read_text(SampleFormat::raw, kData));
}

TEST(Npy, RefusesOtherTypes) {
  for (const char* type : {"<f2", ">f4", "<i4", "|u1", "<c8"}) {
    EXPECT_EQ(
        refused_header(npy_dictionary(type, "(6,)")),
        "data: .npy header: data type '" + std::string(type) + "', accepted are '<f4' and '<f8'");
  }
  EXPECT_EQ(refused_header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,), }"),
            "data: .npy header: descr is not a string");
}

TEST(Npy, RefusesDataThatDoesNotFitTheShape) {
  EXPECT_EQ(refused_header(npy_dictionary("<f4", "(7,)")),
            "data: is truncated: 24 bytes of data, its shape needs 28");
  EXPECT_EQ(refused_header(npy_dictionary("<f4", "(5,)")), "data: has 4 bytes after its data");
  EXPECT_EQ(refused_header(npy_dictionary("<f4", "(4294967296, 4294967296)")),
            "data: .npy header: the shape is too large");
  EXPECT_EQ(refusal(npy_text(npy_dictionary("<f4", "(3, 0)"), "")), "data: is empty: no samples");
}

TEST(Npy, RefusesWhatIsNoNpy) {
  EXPECT_EQ(refusal(""), "data: is empty");
  EXPECT_EQ(refusal("1,2,3\n"), "data: is not a .npy file: it does not begin with \\x93NUMPY");
  EXPECT_EQ(refusal("\x93NUMPY"), "data: is truncated inside its .npy header");
  EXPECT_EQ(refusal(npy_text("{}", "", 9)),
            "data: .npy version 9.0, accepted are 1.0, 2.0 and 3.0");
}

TEST(Npy, RefusesHeadersThatAreTooLongOrCut) {
  EXPECT_EQ(refusal(std::string("\x93NUMPY\x02\x00\xff\xff\xff\x7f", 12)),
            "data: .npy header: 2147483647 bytes, at most 65536 accepted");
  const std::string whole = npy_text(npy_dictionary("<f4", "(6,)"), kData);
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(refusal(whole.substr(0, length)), "no error") << length;
  }
}

TEST(Npy, RefusesBrokenDictionaries) {
  EXPECT_EQ(refused_header("{'descr': '<f4', 'shape': (6,)}"),
            "data: .npy header: fortran_order is missing");
  EXPECT_EQ(refused_header("{'descr': '<f4', 'descr': '<f4'}"),
            "data: .npy header: two values for descr");
  EXPECT_EQ(refused_header("{'kind': 1}"), "data: .npy header: unknown key 'kind'");
  EXPECT_EQ(refused_header("{'fortran_order': 1}"),
            "data: .npy header: fortran_order is neither True nor False");
  EXPECT_EQ(refused_header("{'shape': (-6,)}"),
            "data: .npy header: a size in shape is not a number");
  EXPECT_EQ(refused_header("[]"), "data: .npy header: expected '{' at byte 0");
  EXPECT_EQ(refused_header(npy_dictionary("<f4", "(6,)") + " x"),
            "data: .npy header: something follows the dictionary");
}

}  // namespace
}  // namespace fewbit::solver
