#include <array>
#include <thread>

#include <minizip/zip.h>
#include <sys/stat.h>

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
  int method = Z_DEFLATED;
};
constexpr int kStored = 0;

std::string write_archive(const std::string& name, const std::vector<Entry>& entries) {
  std::string path = testing::TempDir() + "fewbit_weights_" + name;
  zipFile archive = zipOpen64(path.c_str(), APPEND_STATUS_CREATE);
  for (const Entry& entry : entries) {
    const zip_fileinfo info{};
    EXPECT_EQ(zipOpenNewFileInZip(archive, entry.name.c_str(), &info, nullptr, 0, nullptr, 0,
                                  nullptr, entry.method, Z_DEFAULT_COMPRESSION),
              ZIP_OK);
    const auto size = static_cast<unsigned>(entry.content.size());
    EXPECT_EQ(zipWriteInFileInZip(archive, entry.content.data(), size), ZIP_OK);
    EXPECT_EQ(zipCloseFileInZip(archive), ZIP_OK);
  }
  EXPECT_EQ(zipClose(archive, nullptr), ZIP_OK);
  return path;
}

TEST(NpzSamples, AreReadStoredAndDeflated) {
  const auto expected = read_text(kNpy, kArray);
  const auto path = write_archive(
      "both.npz", {{"x.npy", kArray, kStored}, {"deep/y:z.npy", kArray}, {"note.txt", "?"}});
  EXPECT_EQ(read_file(path + ":x"), expected);
  EXPECT_EQ(read_file(path + ":deep/y:z"), expected);
  EXPECT_EQ(refusal(path), path + ": which of its arrays? As in FILE.npz:KEY; it has: x, deep/y:z");
  EXPECT_EQ(refusal(path + ":w"), path + ":w: has no array 'w'; it has: x, deep/y:z");
  EXPECT_EQ(read_file(write_archive("one.npz", {{"x.npy", kArray}})), expected);
}

TEST(NpzSamples, AreRefusedWhereTheArchiveIsNone) {
  const auto text = write_temporary("text.npz", "no archive at all");
  EXPECT_EQ(refusal(text + ":x"), text + ": is no .npz archive: not a zip archive, or cut short");
  const auto none = write_archive("none.npz", {{"note.txt", "?"}});
  EXPECT_EQ(refusal(none + ":x"), none + ":x: has no array 'x'; it has: none");
  EXPECT_EQ(refusal("missing.npz:x"), "missing.npz: cannot read: No such file or directory");
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(NpzSamples, OfADamagedArchiveAreRefused) {
  const auto good = bytes_of(write_archive("good.npz", {{"x.npy", kArray, kStored}}));
  const size_t data = good.find(kNumbers);
  ASSERT_NE(data, std::string::npos);
  std::string flipped = good;
  flipped[data + 2] = '\x41';  // still a number, but not the one that the checksum knows
  const auto path = write_temporary("flipped.npz", flipped);
  EXPECT_EQ(refusal(path + ":x"),
            path + ":x: cannot be read from the archive: its checksum is another");
  // The last six bytes are zero, which is how minizip takes them where they are missing.
  for (size_t length = 0; length < good.size() - 6; ++length) {
    EXPECT_NE(refusal(write_temporary("cut.npz", good.substr(0, length)) + ":x"), "no error");
  }
  const auto text_of = [&](size_t place, char value, const std::string& from) {
    std::string damaged = from;
    damaged[place] = value;
    const std::string name = write_temporary("damaged.npz", damaged) + ":x";
    const std::string text = refusal(name);
    const std::string start = name + ": cannot be read from the archive: ";
    EXPECT_TRUE(text.starts_with(start)) << text;
    return text.substr(std::min(start.size(), text.size()));
  };
  // What the entry in the central directory says: its flags, and how it is compressed.
  const size_t entry = good.find("PK\x01\x02");
  ASSERT_NE(entry, std::string::npos);
  EXPECT_EQ(text_of(entry + 8, 1, good), "it is encrypted");
  EXPECT_EQ(text_of(entry + 10, 12, good),
            "its entry is damaged, or compressed in another way than npz files are");
  const auto deflated = bytes_of(write_archive("deflated.npz", {{"x.npy", kArray}}));
  const size_t header = deflated.find("x.npy") + 5;
  EXPECT_EQ(text_of(header, '\x07', deflated), "its deflated data is damaged");
}

// numpy writes a 64-bit header for an array of any size: zipfile's force_zip64.
TEST(NpzSamples, OfNumpyHaveAHeaderOf64Bits) {
  const std::string path = testing::TempDir() + "fewbit_weights_wide.npz";
  zipFile archive = zipOpen64(path.c_str(), APPEND_STATUS_CREATE);
  const zip_fileinfo info{};
  ASSERT_EQ(zipOpenNewFileInZip64(archive, "x.npy", &info, nullptr, 0, nullptr, 0, nullptr,
                                  Z_DEFLATED, Z_BEST_SPEED, 1),
            ZIP_OK);
  ASSERT_EQ(zipWriteInFileInZip(archive, kArray.data(), static_cast<unsigned>(kArray.size())),
            ZIP_OK);
  ASSERT_EQ(zipCloseFileInZip(archive), ZIP_OK);
  ASSERT_EQ(zipClose(archive, nullptr), ZIP_OK);
  EXPECT_EQ(read_file(path), read_text(kNpy, kArray));
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
