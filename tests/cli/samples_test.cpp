// Tables fitted to samples of few values, against figures by hand and exact arithmetic.

#include <cstdlib>

#include <fmt/format.h>

#include "table/json.hpp"
#include "tests/cli/program.hpp"

namespace fewbit::samples_test {

using testing::HasSubstr;
using testing::StartsWith;

class SampleTables : public Program {
 protected:
  std::string sequence(int first, int last) const {
    std::string text;
    for (int i = first; i <= last; ++i) text += std::to_string(i) + "\n";
    return text;
  }

  solver::Table table_on(const std::string& samples, const std::string& arguments) const {
    write("samples.csv", samples);
    const Outcome outcome = run(arguments + " --weight samples:samples.csv -o table.json");
    EXPECT_EQ(outcome.code, 0) << arguments << "\n" << outcome.err;
    EXPECT_EQ(run("verify table.json").code, 0) << arguments;
    return solver::read_table(path("table.json"));
  }
};

TEST_F(SampleTables, ErrorIsTheOneOnTheSamplesAndTheBestThereIs) {
  const solver::Table tanh = table_on(sequence(-5, 5), "--fn tanh --bits 2");
  EXPECT_NEAR(tanh.error, 1.0170295784e-05, 1e-14);
  EXPECT_LE(tanh.relative_gap, 1e-11);
  EXPECT_NEAR(table_on(sequence(-4, 4), "--fn softsign --bits 2").error, 5.625e-5, 1e-16);
  EXPECT_NEAR(table_on(sequence(-8, 8), "--fn softsign --bits 3").error, 6.32585067e-7, 1e-15);
  EXPECT_LE(table_on(sequence(-6, 6), "--fn gelu --bits 3").relative_gap, 1e-9);
}

TEST_F(SampleTables, AsManyLevelsAsValuesAreExact) {
  for (const char* form : {"levels", "intervals", "unbiased"}) {
    const solver::Table table = table_on("-2.553\n-0.138\n1.053\n1.776\n",
                                         std::string("--fn gelu --levels 8 --form ") + form);
    EXPECT_EQ(table.error, 0.0) << form;
    EXPECT_EQ(table.relative_gap, 0.0) << form;
    EXPECT_EQ(table_on(sequence(1, 4), std::string("--fn relu --bits 1 --form ") + form).error, 0.0)
        << form;
  }
}

TEST_F(SampleTables, OneSampleOnEachSideIsNotPartedByItsSign) {
  const solver::Table table =
      table_on("-6.5 -4.1 -2.2 -1.5 -0.7 0.4 0.7 1.1 2.2 4.1", "--fn sigmoid --levels 16");
  EXPECT_EQ(table.error, 0.0);
}

TEST_F(SampleTables, ErrorOnTheSamplesIsPrintedFirst) {
  write("few.csv", sequence(-5, 5));
  EXPECT_THAT(run("--fn tanh --bits 2 --weight samples:few.csv").out,
              HasSubstr("\n\non the samples    1.01702957"));
  std::string many;
  for (int i = 0; i < 2000; ++i) many += fmt::format("{}\n", 0.001 * i * i * 1e-3 - 2.0);
  write("many.csv", many);
  const std::string text = run("--fn tanh --bits 2 --weight samples:many.csv").out;
  EXPECT_LT(text.find("on the samples"), text.find("squared error     "));
  EXPECT_THAT(text, HasSubstr(" on their histogram (rms"));
}

TEST_F(SampleTables, SmoothedObjectiveHasADensity) {
  write("few.csv", sequence(-5, 5));
  const Outcome outcome =
      run("--fn tanh --bits 2 --objective smoothed --weight samples:few.csv --json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\"kind\": \"histogram\""));
}

TEST_F(SampleTables, DataTypesPartTheirOwnValues) {
  for (const char* dtype : {"fp32", "bf16", "fp16"}) {
    const solver::Table table =
        table_on(sequence(-5, 5), std::string("--fn gelu --levels 11 --dtype ") + dtype);
    EXPECT_EQ(table.error, 0.0) << dtype;
  }
}

}  // namespace fewbit::samples_test
