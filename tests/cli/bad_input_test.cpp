#include "tests/cli/program.hpp"

namespace fewbit::bad_input_test {

using BadInput = Program;
using testing::HasSubstr;

TEST_F(BadInput, UnknownFunctionNamesTheNearest) {
  expect_refused("--fn gleu --bits 3", 2, "gelu");
}

TEST_F(BadInput, UnknownParameterNamesTheAccepted) {
  expect_refused("--fn elu:beta=1 --bits 3", 2, "alpha");
}

TEST_F(BadInput, ParameterOutOfRangeIsUsage) {
  expect_refused("--fn silu:beta=nan --bits 3", 2, "beta");
  expect_refused("--fn hardtanh:min=2,max=1 --bits 1", 2, "min");
}

TEST_F(BadInput, BitsOutsideOneToEightAreUsage) {
  for (const char* bits : {"0", "9", "-1", "3.5", "three", "''"}) {
    expect_refused(std::string("--fn gelu --bits ") + bits, 2, "bits");
  }
}

TEST_F(BadInput, LevelsOutsideTwoTo256AreUsage) {
  expect_refused("--fn gelu --levels 1", 2, "'1' is not accepted; expected a whole number from 2");
  expect_refused("--fn gelu --levels 257", 2, "256");
}

TEST_F(BadInput, ListsOfSizesThatAreNoneAreUsage) {
  for (const char* bits : {"3-1", "1-9", "1,,2", "1-", "-", ",", "1-2-3", "1, 2"}) {
    expect_refused("--fn gelu --bits '" + std::string(bits) + "'", 2, "--bits");
  }
  expect_refused("--fn gelu --levels 5-2", 2,
                 "'5-2' is not accepted; expected a whole number from 2 to 256, a range such as");
}

TEST_F(BadInput, TauIsRefusedWhereUnitsBringTheirOwnSpread) {
  const std::string solve = "--fn gelu --bits 1 --weight samples:" FEWBIT_SOURCE_DIR
                            "/tests/data/gelu_inputs_step700_block2.npy --objective smoothed";
  expect_refused(solve + ":tau=0.5", 2, "these samples tell 384 units apart");
  EXPECT_THAT(run(solve + ":lambda=1e-3").out,
              HasSubstr("smoothed objective (each unit's own spread, lambda 0.001)"));
}

TEST_F(BadInput, BitsAndLevelsExcludeEachOther) {
  expect_refused("--fn gelu --bits 3 --levels 8", 2, "exclude each other");
  expect_refused("--fn gelu", 2, "--bits");
}

TEST_F(BadInput, FunctionAndExpressionExcludeEachOther) {
  expect_refused("--fn gelu --expr x --name y --bits 3", 2, "exclude each other");
  expect_refused("--expr 'x*x' --bits 3", 2, "--name");
  expect_refused("--bits 3", 2, "--fn");
}

TEST_F(BadInput, ReversedNanOrHalfDomainsAreUsage) {
  for (const char* domain : {"3,-3", "1,1", "nan,3", "-3,nan", "5", "a,b", "inf,inf", "1,2,3"}) {
    expect_refused(std::string("--fn gelu --bits 2 --domain ") + domain, 2, "--domain");
  }
}

TEST_F(BadInput, OneSidedDomainNeedsAnIntegrableWeight) {
  expect_refused("--fn gelu --bits 2 --domain -inf,3", 1, "mass lies within 1e100");
  EXPECT_EQ(run("--fn gelu --bits 2 --domain -inf,3 --weight normal:0,1").code, 0);
}

TEST_F(BadInput, UnknownChoicesNameTheAccepted) {
  expect_refused("--fn gelu --bits 2 --form level", 2, "intervals, levels or unbiased");
  expect_refused("--fn gelu --bits 2 --dtype fp8", 2, "exact, fp32, bf16 or fp16");
  expect_refused("--fn gelu --bits 2 --weight gauss:0,1", 2, "normal");
  expect_refused("--fn gelu --bits 2 --objective smooth", 2, "smoothed[:tau=0.83,lambda=1e-3]");
  expect_refused("--fn gelu --bits 2 --objective smoothed:tau=2", 2, "0 < T < 1");
}

TEST_F(BadInput, ExpressionThatDoesNotParseShowsTheColumn) {
  const Outcome outcome = run("--expr 'x*+' --name act --bits 2");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("\n  x*+\n     ^\n"));
}

TEST_F(BadInput, ExpressionThatIsNotFiniteNamesTheX) {
  expect_refused("--expr '1/x' --name act --bits 2", 1, "x = 0");
  expect_refused("--expr 'sqrt(x)' --name act --bits 2", 1, "x = ");
}

TEST_F(BadInput, ConstantDerivativeHasNoTable) {
  expect_refused("--fn relu --domain 1,2 --bits 1", 1, "constant");
}

TEST_F(BadInput, UnknownOptionsAndCommandsAreUsage) {
  expect_refused("--fn gelu --bitz 3", 2,
                 "unknown option '--bitz'; nearest: --bits (see fewbit-solve --help)");
  expect_refused(
      "report --bitz=3", 2,
      "report: unknown option '--bitz'; nearest: --bits (see fewbit-solve report --help)");
  expect_refused("--nonsense", 2, "unknown option '--nonsense' (see fewbit-solve --help)");
  expect_refused("--fn gelu --bits 2 -o ''", 2, "--output: no value given, expected one");
  expect_refused("--fn gelu --bits 2 --json=1", 2, "--json: takes no value");
  expect_refused("--fn gelu --name n --bits 2", 2, "--name goes with --expr, not with --fn");
  expect_refused("--fn gelu --bits 2 --form intervals --objective smoothed", 2,
                 "--objective smoothed goes with --form levels, not with intervals");
  expect_refused("", 2, "(see fewbit-solve --help)");
  expect_refused("solve", 2, "unknown command 'solve'; accepted: list, show, verify, report, emit");
  expect_refused("show a b", 2, "show: 'b' is one word too many");
  expect_refused("--bits 2 --fn", 2, "--fn: no value given, expected one");
  expect_refused("--fn gelu --fn silu", 2, "--fn: given more than once, accepted once");
  expect_refused("show", 2, "FILE");
  expect_refused("--fn gelu list", 2, "--fn");
  expect_refused("report --fn gelu -o x.pdf", 2, "md, csv or html");
  expect_refused("report --bits 3-1", 2, "3-1");
  expect_refused("report --fn gelu,,silu", 2, "empty");
}

}  // namespace fewbit::bad_input_test
