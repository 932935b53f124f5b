#include "table/json.hpp"
#include "tests/cli/program.hpp"

namespace fewbit::solve_test {

using Solve = Program;
using testing::HasSubstr;
using namespace std::string_literals;

TEST_F(Solve, PrintsTheTableWithItsProofAndPlot) {
  const Outcome outcome = run("--fn gelu --bits 3");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
  for (const char* part : {"gelu: f(x) = ", "3 bits, 9 thresholds", "squared error     0.0080936",
                           "lower bound       0.0080936", "relative gap", "smoothed bias", "┤"}) {
    EXPECT_THAT(outcome.out, HasSubstr(part));
  }
}

TEST_F(Solve, EveryFormAndObjectiveHasItsWords) {
  EXPECT_THAT(run("--fn gelu --bits 2 --form intervals").out, HasSubstr("intervals form"));
  EXPECT_THAT(run("--fn gelu --bits 2 --form unbiased").out, HasSubstr("expected error"));
  const std::string smoothed =
      run("--fn gelu --bits 2 --weight normal:0,1 --objective smoothed:tau=0.8").out;
  EXPECT_THAT(smoothed,
              HasSubstr("local optimum of the smoothed objective (tau 0.8, lambda 0.001)"));
}

TEST_F(Solve, ParametersChangeTheTable) {
  const std::string plain = run("--fn elu --bits 2 --json").out;
  const std::string half = run("--fn elu:alpha=0.5 --bits 2 --json").out;
  EXPECT_NE(solver::from_json(plain).thresholds, solver::from_json(half).thresholds);
}

TEST_F(Solve, OwnExpressionEqualsTheBuiltInOfTheSameText) {
  const auto own = solver::from_json(run("--expr 'x*normcdf(x)' --name mine --bits 3 --json").out);
  const auto built_in = solver::from_json(run("--fn gelu --bits 3 --json").out);
  EXPECT_EQ(own.problem.function.name, "mine");
  EXPECT_EQ(own.thresholds, built_in.thresholds);
  EXPECT_EQ(own.error, built_in.error);
}

TEST_F(Solve, LevelsNeedNotFillTheBits) {
  EXPECT_THAT(run("--fn gelu --levels 5").out, HasSubstr("5 levels in 3 bits"));
}

TEST_F(Solve, DomainMayBeginWithAMinusOrBeInfinite) {
  EXPECT_THAT(run("--fn gelu --bits 2 --domain -8,8").out, HasSubstr("domain [-8, 8]"));
  EXPECT_THAT(run("--fn gelu --bits 2 --domain -inf,inf --weight normal:0,1").out,
              HasSubstr("domain (-inf, inf)"));
}

TEST_F(Solve, DataBringItsOwnRange) {
  write("counts.csv", "-3,-1,10\n-1,1,30\n1,4,10\n");
  const auto table =
      solver::from_json(run("--fn gelu --bits 2 --weight histogram:counts.csv --json").out);
  EXPECT_EQ(table.problem.domain, (solver::Domain{-3, 4}));
}

TEST_F(Solve, DtypeRoundsTheThresholds) {
  const auto table = solver::from_json(run("--fn gelu --bits 3 --dtype bf16 --json").out);
  for (const double t : table.thresholds) {
    EXPECT_EQ(static_cast<double>(static_cast<float>(t)), t);
  }
  EXPECT_EQ(table.problem.dtype, solver::DataType::bf16);
}

TEST_F(Solve, SmoothedTablesOfAllKindsVerify) {
  write("counts.csv", "-3,-1,10\n-1,0.5,30\n0.5,1.3,25\n1.3,4,10\n");
  const std::string bumpy = "--expr 'x*sigmoid(1.702*x) + 0.05*max(x - 1, 0)' --name my_act";
  const std::string inputs =
      "samples:" FEWBIT_SOURCE_DIR "/tests/data/gelu_inputs_step700_block2.npy";
  for (const std::string& arguments : {
           "--fn gelu --bits 3 --weight mixture:0.25,4 --objective smoothed:tau=0.83,lambda=1e-6"s,
           "--fn elu:alpha=0.5 --levels 5 --weight normal:-1,0.3 --objective smoothed:tau=0.3"s,
           "--fn hardswish --bits 3 --weight normal:0.5,2 --objective smoothed:tau=0.3"s,
           "--fn tanh --levels 5 --weight normal:0,1 --domain=-1,4 --objective smoothed"s,
           "--fn selu --bits 2 --weight histogram:counts.csv --objective smoothed"s,
           "--fn gelu --bits 2 --weight laplace:0.3,0.5 --objective smoothed"s,
           "--fn silu --bits 2 --weight student-t:-0.2,1,6 --objective smoothed"s,
           "--fn tanh --bits 3 --objective smoothed --weight " + inputs,
           "--fn gelu --bits 3 --weight normal:0,1 --dtype bf16 --objective smoothed"s,
           bumpy + " --bits 3 --weight normal:0,1 --objective smoothed",
       }) {
    ASSERT_EQ(run(arguments + " -o table.json").code, 0) << arguments;
    const Outcome outcome = run("verify table.json");
    EXPECT_EQ(outcome.code, 0) << arguments << ": " << outcome.out;
  }
}

TEST_F(Solve, SamplesComeFromSeveralFilesOrStandardInput) {
  write("a,b.csv", "1,2,3,-1,-2");
  write("c.csv", "0.5 0.25 -3");
  write("all.csv", "1,2,3,-1,-2,0.5,0.25,-3");
  const std::string solve = "--fn gelu --bits 1 --json ";
  const std::string expected = run(solve + "--weight samples:all.csv").out;
  EXPECT_NE(expected, "");
  EXPECT_EQ(run(solve + "--weight samples:a,b.csv --weight samples:c.csv").out, expected);
  EXPECT_EQ(run(solve + "--weight samples:- < all.csv").out, expected);
  expect_refused("--fn gelu --bits 1 --weight samples:all.csv --weight normal", 2,
                 "only samples:FILE may be given more than once");
}

TEST_F(Solve, ClipsSamplesAndWarnsOfOutliers) {
  std::string samples;
  for (int i = 0; i < 2000; ++i) samples += std::to_string(0.001 * i - 1.0) + "\n";
  write("samples.csv", samples + "1e6\n");
  const std::string solve = "--fn gelu --bits 1 -o table.json --weight samples:samples.csv";
  EXPECT_EQ(run(solve).err,
            "fewbit-solve: warning: 2 of 2001 samples carry 99 % of the sum of squares about the "
            "median (samples reach from -1 to 1e+06): --clip 0.999 limits them\n");
  const Outcome clipped = run(solve + " --clip 0.999");
  EXPECT_EQ(clipped.code, 0);
  EXPECT_EQ(clipped.err, "");
  const solver::Domain domain = solver::from_json(read("table.json")).problem.domain;
  EXPECT_NEAR(domain.lo, -0.998, 1e-12);
  EXPECT_EQ(domain.hi, 0.998);
}

TEST_F(Solve, SamplesOnAJumpHaveItsLeftSide) {
  std::string samples;
  const auto add = [&](const char* value, int count) {
    for (int i = 0; i < count; ++i) samples += std::string(value) + "\n";
  };
  add("-1", 400), add("0", 500), add("0.3", 30), add("0.30001", 7), add("2", 100);
  write("jumps.csv", samples);
  const std::string weight = " --bits 1 --weight samples:jumps.csv";
  // f'(-1) = 3, at the very end of the samples, f'(0) = 1 and 2 beyond: the best levels are 1 and
  // the mean of 400 times 3 and 137 times 2.
  EXPECT_THAT(run("--name m --expr 'where(x>0,2*x,where(x>-1,x,3*x))'" + weight).out,
              HasSubstr("on the samples    0.098407345354"));
  EXPECT_THAT(run("--fn relu" + weight).out, HasSubstr("on the samples    0 "));
}

TEST_F(Solve, StepFunctionHasItsExactTable) {
  EXPECT_THAT(run("--fn relu --bits 1").out, HasSubstr("squared error     0 (rms 0)"));
}

}  // namespace fewbit::solve_test
