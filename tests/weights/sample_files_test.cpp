#include <array>
#include <thread>

#include <sys/stat.h>
#include <zip.h>

#include "tests/weights/support.hpp"
#include "weights/byte_source.hpp"

namespace fewbit::solver::sample_files_test {
const std::string kNumbers = little_endian_bytes<float>({1.0F, -2.0F, 0.5F, 7.0F});
const std::string kArray = npy_text(npy_dictionary("<f4", "(4,)"), kNumbers);

std::string refusal(const std::string& name) {
  return message_of([&] {
    Samples samples({name});
    fit_samples(samples);
  });
}

struct Entry {
  std::string name;
  std::string content;
  zip_int32_t method = ZIP_CM_DEFLATE;
};

std::string write_archive(const std::string& name, const std::vector<Entry>& entries) {
  std::string path = testing::TempDir() + "fewbit_weights_" + name;
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  for (const Entry& entry : entries) {
    zip_source_t* source =
        zip_source_buffer(archive, entry.content.data(), entry.content.size(), 0);
    const auto index = zip_file_add(archive, entry.name.c_str(), source, ZIP_FL_OVERWRITE);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), entry.method, 0);
  }
  EXPECT_EQ(zip_close(archive), 0);
  return path;
}

TEST(NpzSamples, AreReadStoredAndDeflated) {
  const auto expected = read_text(kNpy, kArray);
  const auto path = write_archive(
      "both.npz", {{"x.npy", kArray, ZIP_CM_STORE}, {"deep/y:z.npy", kArray}, {"note.txt", "?"}});
  EXPECT_EQ(read_file(path + ":x"), expected);
  EXPECT_EQ(read_file(path + ":deep/y:z"), expected);
  EXPECT_EQ(refusal(path), path + ": which of its arrays? As in FILE.npz:KEY; it has: x, deep/y:z");
  EXPECT_EQ(refusal(path + ":w"), path + ":w: has no array 'w'; it has: x, deep/y:z");
  EXPECT_EQ(read_file(write_archive("one.npz", {{"x.npy", kArray}})), expected);
}

TEST(NpzSamples, AreRefusedWhereTheArchiveIsNone) {
  const auto text = write_temporary("text.npz", "no archive at all");
  EXPECT_EQ(refusal(text + ":x"), text + ": is no .npz archive: Not a zip archive");
  const auto none = write_archive("none.npz", {{"note.txt", "?"}});
  EXPECT_EQ(refusal(none + ":x"), none + ":x: has no array 'x'; it has: none");
  EXPECT_EQ(refusal("missing.npz:x"), "missing.npz: cannot read: No such file or directory");
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(NpzSamples, OfADamagedArchiveAreRefused) {
  const auto good = bytes_of(write_archive("good.npz", {{"x.npy", kArray, ZIP_CM_STORE}}));
  const size_t data = good.find(kNumbers);
  ASSERT_NE(data, std::string::npos);
  std::string flipped = good;
  flipped[data + 2] = '\x41';  // still a number, but not the one that the checksum knows
  const auto path = write_temporary("flipped.npz", flipped);
  EXPECT_EQ(refusal(path + ":x"), path + ":x: cannot be read from the archive: CRC error");
  for (size_t length = 0; length < good.size(); length += 7) {
    EXPECT_NE(refusal(write_temporary("cut.npz", good.substr(0, length)) + ":x"), "no error");
  }
}

TEST(SampleFiles, AddUpWithTheirUnits) {
  const auto array = [](const char* shape, const std::vector<float>& numbers) {
    return npy_text(npy_dictionary("<f4", shape), little_endian_bytes(numbers));
  };
  const auto whole = write_temporary("whole.npy", array("(3, 2)", {1, 10, 2, 11, 3, 15}));
  const auto top = write_temporary("top.npy", array("(1, 2)", {1, 10}));
  const auto rest = write_temporary("rest.npy", array("(2, 2)", {2, 11, 3, 15}));
  Samples samples({top, rest});
  const auto joined = fit_samples(samples);
  EXPECT_EQ(joined.weight, read_file(whole));
  EXPECT_EQ(joined.weight.units.size(), 2u);
  EXPECT_EQ(samples.name(), top + " and 1 more");
  const auto flat = write_temporary("flat.npy", array("(3,)", {2, 11, 3}));
  Samples mixed({top, flat});
  EXPECT_TRUE(fit_samples(mixed).weight.units.empty());
}

TEST(SampleFiles, MayBePipes) {
  const auto path = testing::TempDir() + "fewbit_weights_pipe.npy";
  std::remove(path.c_str());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path, std::ios::binary) << kArray; });
  EXPECT_EQ(read_file(path), read_text(kNpy, kArray));
  writer.join();
  std::remove(path.c_str());
}

TEST(PipedSource, RefusesMoreThanItMayKeep) {
  std::istringstream in(std::string(100, 'x'));
  EXPECT_EQ(message_of([&] { piped_source(in, "standard input", 99); }),
            "standard input: holds more than 99 bytes, which are kept in memory: write them to a "
            "file");
  std::istringstream again("abc");
  const auto source = piped_source(again, "standard input", 3);
  std::array<char, 5> bytes{};
  EXPECT_EQ(source->read(bytes), 3u);
  source->rewind();
  EXPECT_EQ(source->read(std::span(bytes).first(2)), 2u);
  EXPECT_EQ(source->size(), 3u);
}

TEST(SampleFiles, ThatAreFoldersAreRefused) {
  const std::string folder = testing::TempDir() + "fewbit_weights_folder.npy";
  mkdir(folder.c_str(), 0700);
  EXPECT_EQ(refusal(folder), folder + ": is a folder, not a file");
}
}  // namespace fewbit::solver::sample_files_test
