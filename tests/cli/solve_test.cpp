#include "table/json.hpp"
#include "tests/cli/program.hpp"

namespace fewbit {

using Solve = Program;
using testing::HasSubstr;

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

TEST_F(Solve, StepFunctionHasItsExactTable) {
  EXPECT_THAT(run("--fn relu --bits 1").out, HasSubstr("squared error     0 (rms 0)"));
}

}  // namespace fewbit
