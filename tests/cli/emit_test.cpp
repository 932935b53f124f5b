#include "tests/cli/program.hpp"

namespace fewbit::emit_test {

using testing::HasSubstr;
using testing::Not;

class Emit : public Program {
 protected:
  Emit() { EXPECT_EQ(run("--fn gelu --bits 3 -o table.json").code, 0); }
};

TEST_F(Emit, WritesAFileForEachLanguage) {
  const std::pair<const char*, const char*> languages[] = {{"cpp", "#include <cmath>"},
                                                           {"cuda", "__global__"},
                                                           {"torch", "import torch"},
                                                           {"triton", "import triton"}};
  for (const auto& [language, mark] : languages) {
    const Outcome outcome = run(std::string("emit table.json --lang ") + language);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(outcome.out, HasSubstr(mark));
    EXPECT_THAT(outcome.out, HasSubstr("SPDX-License-Identifier: Apache-2.0\n"));
  }
}

TEST_F(Emit, WritesToAFileOrStandardOutput) {
  const std::string text = run("emit table.json").out;
  EXPECT_EQ(run("emit table.json -o -").out, text);
  EXPECT_FALSE(exists("-"));
  ASSERT_EQ(run("emit table.json -o gelu.hpp").code, 0);
  EXPECT_EQ(read("gelu.hpp"), text);
}

TEST_F(Emit, NamesTheNamespaceAfterTheTable) {
  ASSERT_EQ(run("--fn gelu --bits 3 --weight normal:0,1 -o other.json").code, 0);
  const std::string start = "namespace fewbit_gelu_levels_b3_";
  const auto name = [&](const std::string& text) { return text.substr(text.find(start), 45); };
  const std::string first = run("emit table.json").out;
  const std::string second = run("emit other.json").out;
  EXPECT_THAT(first, HasSubstr(start));
  EXPECT_NE(name(first), name(second));
  EXPECT_EQ(name(first), name(run("emit table.json").out));
}

TEST_F(Emit, TakesANamespace) {
  const std::string text = run("emit table.json --namespace my::act").out;
  EXPECT_THAT(text, HasSubstr("\nnamespace my::act {"));
  EXPECT_THAT(text, HasSubstr("//   my::act::forward(x.data(),"));
  EXPECT_THAT(text, Not(HasSubstr("is named after")));
  EXPECT_THAT(run("emit table.json --lang torch --namespace my_act").out,
              HasSubstr("_NAMESPACE = \"my_act\"\n"));
}

TEST_F(Emit, RefusesWhatIsNoNamespace) {
  const std::pair<const char*, const char*> wrong[] = {
      {"'3d'", "--namespace: '3d' is no identifier or several joined by ::"},
      {"a:b", "is no identifier or several"},
      {"a::", "is no identifier or several"},
      {"::a", "is no identifier or several"},
      {"'a b'", "is no identifier or several"},
      {"a::class", "holds 'class', a keyword of C++"},
      {"std::a", "is the standard library's"},
      {"a::b --lang torch", "--namespace: 'a::b' is nested, torch.library takes one identifier"},
      {"a-b --lang triton", "--namespace: 'a-b' is no identifier"}};
  for (const auto& [name, reason] : wrong) {
    expect_refused(std::string("emit table.json --namespace ") + name, 2, reason);
  }
}

TEST_F(Emit, ListsTheLanguagesThatItKnows) {
  expect_refused("emit table.json --lang rust", 2,
                 "--lang: 'rust' is not accepted; expected cpp, cuda, torch or triton");
}

TEST_F(Emit, RefusesNamesThatAreNoIdentifiers) {
  std::string text = read("table.json");
  text.replace(text.find("\"gelu\""), 6, "\"ge lu;\"");
  write("odd.json", text);
  expect_refused("emit odd.json", 1, "function.name: 'ge lu;' is no identifier");
}

TEST_F(Emit, ExplainsItselfInItsHelp) {
  const std::string text = run("emit --help").out;
  for (const char* part : {"--namespace", "cpp ", "cuda ", "torch ", "triton ", "__nv_bfloat16",
                           "ceil(n * bits / 8)", "fewbit_FUNCTION_FORM_bBITS_DIGEST",
                           "fewbit-solve emit layer0.json --lang torch -o layer0.py"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

}  // namespace fewbit::emit_test
