// Every codec on a device: what it stores and what comes back is the CPU's, bit for bit, whole and
// in parts.
#include <functional>
#include <limits>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "codecs/codec.hpp"
#include "ops/integers.hpp"
#include "tests/stand_in/device/device.hpp"

namespace fewbit::codecs::stand_in_codecs_test {

const c10::Device kCpu(c10::kCPU), kFirst(stand_in::kDevice, 0);

/// A codec of an x of the CPU, with all that it knows besides in memory of a device.
using MakeCodec = std::function<CodecPointer(const at::Tensor& x, c10::Device device)>;

struct Case {
  std::string name;
  MakeCodec codec;
};

Case anywhere(CodecPointer codec) {
  return {text_of(*codec), [=](const at::Tensor&, c10::Device) { return codec; }};
}

at::Tensor run_of(const at::Tensor& x) {
  return x.as_strided({x.numel()}, {1});
}

/// By sign and size.
Classes classes_of(const at::Tensor& x, c10::Device device) {
  const at::Tensor run = run_of(x);
  const at::Tensor each = run.gt(0.0).to(at::kByte).mul(2).add(run.abs().gt(1.0).to(at::kByte));
  const ops::ElementClasses classes{ops::integer_encode(each, 0, 2).to(device), 2};
  return {.count = 4,
          .of_elements = [=] { return classes; },
          .zero = {},
          .of_part =
              [=, count = x.numel()](const ops::Part& part) {
                return ops::ElementClasses{part.of_codes(classes.codes, 2, count), 2};
              }};
}

Directions directions_of(const at::Tensor& x, c10::Device device) {
  const int64_t channels = x.size(-1);
  return {ops::basis_of(at::sin(at::arange(3 * channels).reshape({3, channels}))).to(device),
          {channels, 1}};
}

Case rotated_case(const RotatedCodes& form) {
  return anywhere(rotated(form));
}

Case class_case(const RotatedCodes& form) {
  return {"by class, " + text_of(*rotated(form)), [=](const at::Tensor& x, c10::Device device) {
            return rotated_by_class(form, classes_of(x, device));
          }};
}

std::vector<Case> cases_of_reals() {
  std::vector<Case> cases = {anywhere(identity()), anywhere(cast(at::kBFloat16)),
                             anywhere(cast(at::kFloat8_e4m3fn)), anywhere(cast(at::kFloat8_e5m2))};
  for (const int bits : {1, 2, 3, 5, 8}) {
    cases.push_back(anywhere(grouped(bits)));
    cases.push_back(anywhere(squares(bits, 64)));
    cases.push_back(rotated_case({bits, 128}));
    cases.push_back(class_case({bits, 64}));
    cases.push_back(anywhere(frequency_split(bits, 4)));
    cases.push_back({"fixed point, " + bits_text(bits), [=](const at::Tensor&, c10::Device) {
                       return normal_fixed_point(bits, {.over = {0}, .epsilon = 1e-5});
                     }});
    if (bits > 3) continue;
    for (const int64_t states : {4, 8}) {
      cases.push_back(rotated_case({bits, 256, states}));
      cases.push_back(class_case({bits, 256, states}));
    }
  }
  cases.push_back({"fixed point, weights", [](const at::Tensor& x, c10::Device device) {
                     const at::Tensor some = at::arange(x.size(-1), at::kFloat).to(device);
                     return normal_fixed_point(
                         3, {.over = {0}, .weight = some.sub(3.5), .bias = some.sin()});
                   }});
  cases.push_back({"low rank", [](const at::Tensor& x, c10::Device device) {
                     return low_rank({2, 256}, directions_of(x, device));
                   }});
  cases.push_back(
      {"normalized", [](const at::Tensor& x, c10::Device device) {
         const at::Tensor mean = x.to(at::kFloat).mean(-1, true);
         const at::Tensor factor = x.to(at::kFloat).std(-1, true, true).reciprocal();
         return normalized(rotated({2, 256}), statistics_of(mean.to(device), factor.to(device)));
       }});
  cases.push_back({"bits of each sample", [](const at::Tensor& x, c10::Device) {
                     const at::Tensor bits = at::arange(x.size(0)).remainder(8).add(1);
                     return grouped(bits.to(at::kByte), 64);
                   }});
  return cases;
}

/// Sizes, layout, type, scale and odd elements as they come, but nothing that a CPU stores apart
/// (codecs/extremes.hpp).
at::Tensor drawn(std::mt19937_64& random) {
  const auto any = [&](int64_t count) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(count));
  };
  at::Tensor x = any(2) == 0 ? at::randn({1 + any(40), 1 + any(90)})
                             : at::randn({1 + any(5), 1 + any(7), 1 + any(12), 1 + any(12)});
  if (x.dim() == 4 && any(2) == 0) x = x.contiguous(at::MemoryFormat::ChannelsLast);
  constexpr double kScales[] = {1.0, 1.0, 1e-30, 3e4, 1e-4, 1e15};
  x = x * kScales[any(6)] + (any(4) == 0 ? 3.0 : 0.0);
  const at::Tensor run = run_of(x);
  switch (any(4)) {
    case 0:
      run.slice(0, any(x.numel()), {}, 97).fill_(std::numeric_limits<double>::quiet_NaN());
      break;
    case 1:
      run.slice(0, any(x.numel()), {}, 301).fill_(-std::numeric_limits<double>::infinity());
      break;
    default:
      break;
  }
  constexpr at::ScalarType kTypes[] = {at::kFloat, at::kFloat, at::kBFloat16, at::kHalf,
                                       at::kDouble};
  return x.to(kTypes[any(5)]);
}

at::Tensor bytes_of(const at::Tensor& x) {
  const at::Tensor there = x.cpu();
  return there.numel() == 0 ? there.to(at::kByte) : there.contiguous().view({-1}).view(at::kByte);
}

bool is_same(const at::Tensor& found, const at::Tensor& expected) {
  return found.scalar_type() == expected.scalar_type() && found.sizes() == expected.sizes() &&
         at::equal(bytes_of(found), bytes_of(expected));
}

void expect_alike(const Case& one, const at::Tensor& x, std::mt19937_64& random) {
  const CodecPointer of_cpu = one.codec(x, kCpu), of_device = one.codec(x, kFirst);
  ASSERT_EQ(of_device->takes(x.to(kFirst)), of_cpu->takes(x));
  if (!of_cpu->takes(x)) return;
  const at::Tensor seed = at::full({1}, static_cast<int64_t>(random()), at::kLong);
  const auto expected = of_cpu->encode(x, {seed, 11});
  const auto found = of_device->encode(x.to(kFirst), {seed.to(kFirst), 11});
  ASSERT_EQ(found == nullptr, expected == nullptr);
  if (!expected) return;
  ASSERT_EQ(found->tensors().size(), expected->tensors().size());
  for (size_t i = 0; i < expected->tensors().size(); ++i) {
    ASSERT_TRUE(is_same(found->tensors()[i], expected->tensors()[i])) << "stored tensor " << i;
  }
  const at::Tensor back = found->decoded();
  ASSERT_EQ(back.device(), kFirst);
  ASSERT_TRUE(is_same(back, expected->decoded()));
  ASSERT_EQ(found->has_parts(), expected->has_parts());
  const auto count = static_cast<uint64_t>(x.numel());
  const auto begin = static_cast<int64_t>(random() % count);
  const auto end =
      begin + 1 + static_cast<int64_t>(random() % (count - static_cast<uint64_t>(begin)));
  ASSERT_TRUE(is_same(found->decoded(begin, end), expected->decoded(begin, end)));
}

TEST(StandInCodecs, AreThoseOfTheCpu) {
  at::manual_seed(5);
  std::mt19937_64 random(5);
  for (const Case& one : cases_of_reals()) {
    for (int draw = 0; draw < 20; ++draw) {
      const at::Tensor x = drawn(random);
      std::ostringstream what;
      what << one.name << ", draw " << draw << ": " << x.toString() << ' ' << x.sizes();
      SCOPED_TRACE(what.str());
      expect_alike(one, x, random);
    }
  }
}

TEST(StandInCodecs, OfMasksAndIntegersAreThoseOfTheCpu) {
  at::manual_seed(6);
  std::mt19937_64 random(6);
  const at::Tensor uniform = at::rand({7, 333});
  const Case places_case = anywhere(places({{18, 20}, {2, 2}, {2, 2}, {0, 0}, {1, 1}}));
  const at::Tensor places_of =
      std::get<1>(at::max_pool2d_with_indices(at::randn({3, 2, 18, 20}), {2, 2}));
  const std::pair<Case, at::Tensor> all[] = {
      {anywhere(mask()), uniform < 0.5},
      {anywhere(mask()), at::dropout(at::ones({5000}), 0.3, true)},
      {anywhere(mask()), at::dropout(at::ones({77}), 0.3, true).to(at::kBFloat16)},
      {anywhere(integers()), at::randint(-100, 3000, {3000})},
      {anywhere(integers()), at::randint(-100, 30, {777}).to(at::kInt)},
      {anywhere(integers()), at::full({10}, 7, at::kLong)},
      {anywhere(integers_below(500)), at::randint(500, {3000})},
      {places_case, places_of}};
  for (const auto& [one, x] : all) {
    std::ostringstream what;
    what << one.name << ": " << x.toString() << ' ' << x.sizes();
    SCOPED_TRACE(what.str());
    expect_alike(one, x, random);
  }
}

}  // namespace fewbit::codecs::stand_in_codecs_test
