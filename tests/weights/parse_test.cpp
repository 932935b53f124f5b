#include "weights/parse.hpp"

#include "tests/weights/support.hpp"

namespace fewbit::solver::parse_test {
std::string refusal(const std::string& text) {
  return message_of([&] { parse_weight(text); });
}

TEST(ParseWeight, KnowsEveryKindWithAndWithoutValues) {
  EXPECT_EQ(parse_weight("uniform"), WeightSpec{});
  EXPECT_EQ(parse_weight("normal"), normal_spec(0.0, 1.0));
  EXPECT_EQ(parse_weight("normal:-0.5,2"), normal_spec(-0.5, 2.0));
  EXPECT_EQ(parse_weight("mixture"), mixture_spec(0.0625, 4.0));
  EXPECT_EQ(parse_weight("mixture:0.5,1e1"), mixture_spec(0.5, 10.0));
  EXPECT_EQ(parse_weight("laplace"), pair_spec("laplace", {"mean", 0.0}, {"scale", 1.0}));
  EXPECT_EQ(parse_weight("laplace:1,0.5"), pair_spec("laplace", {"mean", 1.0}, {"scale", 0.5}));
  EXPECT_EQ(parse_weight("student-t"), student_t_spec(0.0, 1.0, 3.0));
  EXPECT_EQ(parse_weight("student-t:1,2,0.5"), student_t_spec(1.0, 2.0, 0.5));
}

TEST(ParseWeight, ReadsFilesWhoseNamesHoldColonsAndCommas) {
  const auto histogram = write_temporary("a:b,c.csv", "0,1\n1,3\n2\n");
  EXPECT_EQ(parse_weight("histogram:" + histogram), histogram_spec({0, 1, 2}, {0.25, 0.75}));
  const auto samples = write_temporary("samples:1.csv", "1,2,3,4");
  EXPECT_EQ(parse_weight("samples:" + samples).edges.back(), 4.0);
}

TEST(ParseWeight, RefusesWrongTextAsUsage) {
  for (const char* text : {"", "Normal", "uniform:1", "normal:", "normal:1", "normal:1,2,3",
                           "normal:a,1", "normal:0,0", "mixture:4,1", "histogram", "samples:"}) {
    EXPECT_THROW(parse_weight(text), UsageError) << text;
  }
}

TEST(ParseWeight, SaysWhatIsAccepted) {
  EXPECT_EQ(refusal("normal:1,2,3"), "weight normal: got 3 values, accepted is normal:mean,sigma");
  EXPECT_EQ(refusal("mixture:1"),
            "weight mixture: got 1 value, accepted is mixture:sigma_min,sigma_max");
  EXPECT_EQ(refusal("student-t:0,1"),
            "weight student-t: got 2 values, accepted is student-t:mean,scale,degrees");
  EXPECT_EQ(refusal("normal:0,big"), "weight normal: sigma: 'big' is not a number");
  EXPECT_EQ(refusal("uniform:3"), "weight uniform: takes no values, got '3'");
  EXPECT_EQ(refusal("samples"), "weight samples: needs a file, as in samples:FILE");
  EXPECT_NE(refusal("unifrom").find("nearest: uniform"), std::string::npos);
}

TEST(ParseWeight, JoinsSeveralSampleFiles) {
  const auto first = write_temporary("first.csv", "1,2,3");
  const auto second = write_temporary("second,or.csv", "4,9");
  const auto all = write_temporary("all.csv", "1,2,3,4,9");
  const auto parsed =
      parse_weight(WeightArguments{{"samples:" + first, "samples:" + second}, {}, {}});
  EXPECT_EQ(parsed.spec, parse_weight("samples:" + all));
  EXPECT_EQ(parsed.summary.count, 5u);
  std::vector<double> again;
  parsed.samples->for_each_block([&](std::span<const double> block) {
    again.insert(again.end(), block.begin(), block.end());
  });
  EXPECT_EQ(again, (std::vector<double>{1, 2, 3, 4, 9}));
}

TEST(ParseWeight, RefusesOptionsThatDoNotFit) {
  const auto refused = [](const WeightArguments& arguments) {
    return message_of([&] { parse_weight(arguments); });
  };
  const auto file = "samples:" + write_temporary("some.csv", "1,2,3");
  EXPECT_EQ(refused({{file, "normal"}, {}, {}}),
            "several weights: only samples:FILE may be given more than once");
  EXPECT_EQ(refused({{"normal"}, {}, "0.99"}), "--clip: needs --weight samples:FILE");
  EXPECT_EQ(refused({{}, "csv", {}}), "--sample-format: needs --weight samples:FILE");
  for (const char* clip : {"0.5", "1.1", "nan", "many", "-1", "0"}) {
    EXPECT_EQ(refused({{file}, {}, clip}), "--clip: '" + std::string(clip) +
                                               "' is not accepted; expected a quantile above 0.5, "
                                               "up to 1, such as 0.999");
  }
  EXPECT_EQ(refused({{file}, "pt", {}}),
            "--sample-format: 'pt' is none of npy, npy:bf16, csv, raw, raw:f16, raw:bf16, raw:f32, "
            "raw:f64");
  EXPECT_EQ(refused({{file}, "csv", "0.9"}), "no error");
}
}  // namespace fewbit::solver::parse_test
