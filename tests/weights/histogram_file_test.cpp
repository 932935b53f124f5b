#include "weights/histogram_file.hpp"

#include "tests/weights/support.hpp"

namespace fewbit::solver::histogram_file_test {
WeightSpec read_lines(const std::string& text) {
  std::istringstream in(text);
  return read_histogram(in, "h.csv");
}

std::string refusal(const std::string& text) {
  return message_of([&] { read_lines(text); });
}

TEST(HistogramFile, ReadsLeftEdgesAndCounts) {
  EXPECT_EQ(read_lines("-1,1\n0,2\n1,1\n3\n"), histogram_spec({-1, 0, 1, 3}, {0.25, 0.5, 0.25}));
}

TEST(HistogramFile, ReadsContiguousBins) {
  EXPECT_EQ(read_lines("-1,0,1\n0,1,2\n1,3,1"), histogram_spec({-1, 0, 1, 3}, {0.25, 0.5, 0.25}));
}

TEST(HistogramFile, SkipsHeaderCommentsSpaceAndByteOrderMark) {
  const auto expected = histogram_spec({0, 1, 2}, {0.25, 0.75});
  EXPECT_EQ(read_lines("edge,count\n0,1\n1,3\n2,\n"), expected);
  EXPECT_EQ(read_lines("# counts\r\n\r\n \"edge\" , count\r\n 0 ,\t1 # first\r\n+1,3\r\n2\r\n"),
            expected);
  EXPECT_EQ(read_lines("\xEF\xBB\xBF"
                       "0,1\n1,3\n2\n"),
            expected);
}

TEST(HistogramFile, CutsAndJoinsEmptyBins) {
  EXPECT_EQ(read_lines("0,0\n1,1\n2,0\n3,0\n4,1\n5,0\n6\n"),
            histogram_spec({1, 2, 4, 5}, {0.5, 0.0, 0.5}));
}

TEST(HistogramFile, RefusesWhatHoldsNoHistogram) {
  EXPECT_EQ(refusal(""), "h.csv: is empty: no histogram");
  EXPECT_EQ(refusal("# nothing\nedge,count\n"), "h.csv: is empty: no histogram");
  EXPECT_EQ(refusal("0,0\n1,0\n2\n"), "h.csv: histogram: the total is zero");
  EXPECT_EQ(refusal("0,1\n1,2\n"),
            "h.csv: the last line must hold the right end alone (truncated?)");
}

TEST(HistogramFile, NamesTheLineOfBadNumbers) {
  EXPECT_EQ(refusal("0,1\n1,x\n2\n"), "h.csv: line 2: count 'x' is not a number");
  EXPECT_EQ(refusal("0,1\n1,nan\n2\n"), "h.csv: line 2: count 'nan' is not a number");
  EXPECT_EQ(refusal("0,1\n,2\n2\n"), "h.csv: line 2: edge '' is not a number");
  EXPECT_EQ(refusal("0,inf\n1\n"), "h.csv: line 1: count 'inf' is infinite");
  EXPECT_EQ(refusal("0,1\n1,-2\n2\n"), "h.csv: line 2: count -2 is negative");
}

TEST(HistogramFile, NamesTheLineOfBadEdges) {
  EXPECT_EQ(refusal("0,1\n2,1\n1\n"), "h.csv: line 3: edges must ascend: 1 follows 2");
  EXPECT_EQ(refusal("0,1\n0,1\n1\n"), "h.csv: line 2: edges must ascend: 0 follows 0");
  EXPECT_EQ(refusal("0,1,5\n2,3,5\n"), "h.csv: line 2: bin begins at 2, the one before ends at 1");
}

TEST(HistogramFile, NamesTheLineOfWrongColumns) {
  EXPECT_EQ(refusal("0\n"), "h.csv: line 1: 1 column, accepted are edge,count or left,right,count");
  EXPECT_EQ(refusal("0,1\n1,2,3\n"),
            "h.csv: line 2: 3 columns, accepted are edge,count or left,right,count");
  EXPECT_EQ(refusal("0,1,2,3\n"),
            "h.csv: line 1: 4 columns, accepted are edge,count or left,right,count");
  EXPECT_EQ(refusal("0,1\n1\n2\n"), "h.csv: line 3: follows the line with the right end");
}

TEST(HistogramFile, RefusesEndlessLinesAndTooManyBins) {
  EXPECT_EQ(refusal("0,1\n" + std::string(5000, '[')), "h.csv: line 2: is longer than 1024 bytes");
  std::string text;
  for (int i = 0; i < 70000; ++i) text += std::to_string(i) + ",1\n";
  EXPECT_EQ(refusal(text), "h.csv: line 65537: more than 65536 bins");
}

TEST(HistogramFile, SaysWhyAFileCannotBeRead) {
  const std::string path = testing::TempDir() + "no_such_file.csv";
  EXPECT_EQ(message_of([&] { read_histogram_file(path); }),
            path + ": cannot read: No such file or directory");
  EXPECT_EQ(message_of([] { read_histogram_file(testing::TempDir()); }),
            testing::TempDir() + ": is a folder, not a file");
}
}  // namespace fewbit::solver::histogram_file_test
