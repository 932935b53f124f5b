#include <algorithm>

#include "tests/weights/support.hpp"
#include "weights/sample_cells.hpp"

namespace fewbit::solver::npy_test {
const std::vector<float> kValues = {-1.0F, 0.5F, 2.0F, 3.0F, 3.5F, 4.0F};
const std::string kData = little_endian_bytes(kValues);

WeightSpec read_npy(const std::string& text) {
  return read_text(kNpy, text);
}

std::string refusal(const std::string& text) {
  return message_of([&] { read_npy(text); });
}

std::string refused_header(const std::string& dictionary) {
  return refusal(npy_text(dictionary, kData));
}

TEST(Npy, ReadsEveryVersionAndBothWidths) {
  const auto expected = read_text(kRaw, kData);
  const auto wide = little_endian_bytes(std::vector<double>(kValues.begin(), kValues.end()));
  for (const char version : {char{1}, char{2}, char{3}}) {
    EXPECT_EQ(read_npy(npy_text(npy_dictionary("<f4", "(6,)"), kData, version)), expected);
    EXPECT_EQ(read_npy(npy_text(npy_dictionary("<f8", "(6,)"), wide, version)), expected);
  }
}

TEST(Npy, TakesAnyShape) {
  const auto expected = read_text(kRaw, kData);
  for (const char* shape : {"(6,)", "(6)", "(1, 2, 3)", "(1,6)"}) {
    EXPECT_EQ(read_npy(npy_text(npy_dictionary("<f4", shape), kData)), expected) << shape;
  }
}

TEST(Npy, TakesKeysInAnyOrderAndEitherQuote) {
  const std::string text = R"({"shape":(6,),"fortran_order":True,"descr":"<f4"})";
  EXPECT_EQ(read_npy(npy_text(text, kData)), read_text(kRaw, kData));
}

std::string big_endian(std::string bytes, size_t item) {
  for (size_t i = 0; i < bytes.size(); i += item) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + item));
  }
  return bytes;
}

/// 16-bit items, least byte first.
std::string words(const std::vector<uint16_t>& values) {
  std::string bytes;
  for (const uint16_t value : values) {
    bytes.push_back(static_cast<char>(value));
    bytes.push_back(static_cast<char>(value >> 8));
  }
  return bytes;
}

// kValues in binary16 and in bfloat16.
const std::string kHalves = words({0xbc00, 0x3800, 0x4000, 0x4200, 0x4300, 0x4400});
const std::string kBrains = words({0xbf80, 0x3f00, 0x4000, 0x4040, 0x4060, 0x4080});

TEST(Npy, ReadsHalvesAndBothByteOrders) {
  const auto expected = read_text(kRaw, kData);
  const auto wide = little_endian_bytes(std::vector<double>(kValues.begin(), kValues.end()));
  const auto read = [](const std::string& type, const std::string& data) {
    return read_npy(npy_text(npy_dictionary(type, "(6,)"), data));
  };
  EXPECT_EQ(read("<f2", kHalves), expected);
  EXPECT_EQ(read(">f2", big_endian(kHalves, 2)), expected);
  EXPECT_EQ(read(">f4", big_endian(kData, 4)), expected);
  EXPECT_EQ(read(">f8", big_endian(wide, 8)), expected);
  EXPECT_EQ(read("<V2", kBrains), expected);
  EXPECT_EQ(read(">V2", big_endian(kBrains, 2)), expected);
  EXPECT_EQ(read("|V2", kBrains), expected) << "loaded without ml_dtypes, saved again";
}

TEST(Npy, ReadsEveryHalf) {
  for (const auto& [bits, value] : {std::pair<uint16_t, double>{0x0001, 0x1p-24},
                                    {0x8400, -0x1p-14},
                                    {0x03ff, 1023 * 0x1p-24},
                                    {0x7bff, 65504.0}}) {
    const auto text = npy_text(npy_dictionary("<f2", "(2,)"), words({bits, 0x5000}));
    const auto spec = read_npy(text);
    EXPECT_EQ(just_before(std::min(value, 32.0)), spec.edges.front());
    EXPECT_EQ(std::max(value, 32.0), spec.edges.back());
  }
  EXPECT_EQ(refusal(npy_text(npy_dictionary("<f2", "(2,)"), words({0x3c00, 0xfc00}))),
            "data: sample 1 (counted from 0) is -inf, accepted are numbers within +-1e+100");
}

TEST(Npy, TakesIntegersForBitsOfBfloat16OnlyWhenTold) {
  const auto text = npy_text(npy_dictionary("<i2", "(6,)"), kBrains);
  EXPECT_EQ(read_text({SampleFormat::Kind::npy, ItemType::Kind::bf16}, text),
            read_text(kRaw, kData));
  EXPECT_EQ(refusal(text),
            "data: .npy header: data type '<i2', accepted are '<f2', '<f4', '<f8' (float16, 32 "
            "and 64, also big-endian) and '<V2' (bfloat16); bits of bfloat16 in integers are read "
            "with --sample-format npy:bf16");
}

TEST(Npy, RefusesOtherTypes) {
  for (const char* type : {"=f4", "f4", "", "<V1", "<i4", "|u1", "<c8", "<f16", "|f4"}) {
    EXPECT_EQ(refused_header(npy_dictionary(type, "(6,)")),
              "data: .npy header: data type '" + std::string(type) +
                  "', accepted are '<f2', '<f4', '<f8' (float16, 32 and 64, also big-endian) and "
                  "'<V2' (bfloat16)");
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
}  // namespace fewbit::solver::npy_test
