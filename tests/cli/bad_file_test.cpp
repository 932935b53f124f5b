#include <filesystem>

#include "tests/cli/program.hpp"

namespace fewbit::bad_file_test {

using BadFile = Program;
using testing::HasSubstr;

TEST_F(BadFile, DataThatCannotBeReadIsRefused) {
  write("empty", "");
  write("truncated.npy", std::string("\x93NUMPY\x01\x00\x76\x00{'descr': '<f4'", 24));
  write("nan.csv", "1\nnan\n2\n");
  write("negative.csv", "0,1,5\n1,2,-5\n");
  write("zero.csv", "0,1,0\n1,2,0\n");
  const std::string solve = "--fn gelu --bits 2 --weight ";
  expect_refused(solve + "histogram:missing.csv", 1, "missing.csv");
  expect_refused(solve + "histogram:empty", 1, "empty");
  expect_refused(solve + "samples:empty", 1, "empty");
  expect_refused(solve + "samples:truncated.npy", 1, "truncated");
  expect_refused(solve + "samples:nan.csv", 1, "nan");
  expect_refused(solve + "histogram:negative.csv", 1, "negative.csv");
  expect_refused(solve + "histogram:zero.csv", 1, "zero.csv");
}

TEST_F(BadFile, TablesThatAreNoneAreRefusedByEveryReader) {
  write("empty.json", "");
  write("half.json", "{\"schema\": 1, \"function\": {");
  write("brackets.json", std::string(3000000, '['));
  write("keys.json", "{\"schema\": 1, \"colour\": 2}");
  for (const char* name : {"empty", "half", "brackets", "keys", "missing"}) {
    const std::string file = std::string(name) + ".json";
    expect_refused("show " + file, 1, file);
    expect_refused("emit " + file, 1, file);
    EXPECT_EQ(run("verify " + file).code, 1);
    EXPECT_THAT(run("verify " + file).out, HasSubstr("FAILED  " + file + ": "));
  }
}

TEST_F(BadFile, GigabyteIsRefusedWithoutReadingIt) {
  write("big.json", "[");
  std::filesystem::resize_file(path("big.json"), size_t{1} << 30);
  expect_refused("show big.json", 1, "is larger than");
}

TEST_F(BadFile, ChangedTableFailsVerification) {
  ASSERT_EQ(run("--fn silu --bits 2 -o table.json").code, 0);
  std::string text = read("table.json");
  const size_t place = text.find("\"error\": 0.") + 14;
  text[place] = text[place] == '9' ? '8' : '9';
  write("changed.json", text);
  const Outcome outcome = run("verify table.json changed.json");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("ok      table.json\n"));
  EXPECT_THAT(outcome.out, HasSubstr("FAILED  changed.json; "));
  EXPECT_EQ(outcome.err, "fewbit-solve: error: 1 of 2 files failed\n");
}

TEST_F(BadFile, WhiteSpaceIsAcceptedUnlessTheCanonicalTextIsAskedFor) {
  ASSERT_EQ(run("--fn silu --bits 2 -o table.json").code, 0);
  std::string text = read("table.json");
  for (size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at)) {
    text.replace(at, 1, "\r\n\t");
    at += 3;
  }
  write("spaced.json", text);
  const Outcome any = run("verify spaced.json table.json");
  EXPECT_EQ(any.code, 0);
  EXPECT_EQ(any.out,
            "ok      spaced.json; text: differs from the canonical text of this table in white "
            "space alone\nok      table.json\n");
  const Outcome insisting = run("verify --canonical spaced.json table.json");
  EXPECT_EQ(insisting.code, 1);
  EXPECT_THAT(insisting.out, testing::StartsWith("FAILED  spaced.json; text: differs"));
  EXPECT_THAT(insisting.out, testing::EndsWith("ok      table.json\n"));
}

TEST_F(BadFile, RefusedCallsLeaveTheOldFile) {
  write("old.json", "old");
  run("--fn gelu --bits 99 -o old.json");
  run("--fn relu --domain 1,2 --bits 1 -o old.json");
  run("show missing.json -o old.json");
  run("report --fn relu --domain 1,2 --format md -o old.json");
  EXPECT_EQ(read("old.json"), "old");
}

}  // namespace fewbit::bad_file_test
