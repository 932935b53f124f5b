// Gradients out of pieces are those of the whole, for every shape; all else gets the whole.
#include <array>
#include <functional>
#include <optional>
#include <tuple>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "pieces/piecewise.hpp"

namespace fewbit::pieces_test {

using session::Piecewise;
using Gradients = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

class Rows final : public session::RowSource {
 public:
  Rows(at::Tensor x, int& wholes) : x_(std::move(x)), wholes_(wholes) {}
  at::Tensor whole() const override {
    ++wholes_;
    return x_.clone();
  }
  at::Tensor rows(int64_t first, int64_t last) const override {
    return x_.slice(0, first, last).clone();
  }

 private:
  at::Tensor x_;
  int& wholes_;
};

class Pieces : public ::testing::Test {
 protected:
  void SetUp() override { at::manual_seed(3); }

  /// x in pieces of so many rows.
  at::Tensor in_pieces(const at::Tensor& x, int64_t at_once = 2) {
    return at::Tensor(c10::make_intrusive<Piecewise>(
        std::make_shared<Rows>(x, wholes),
        Piecewise::Layout{x.sizes(), x.strides(), x.scalar_type(), x.device()}, at_once));
  }

  using Backward = std::function<Gradients(const at::Tensor& dy, const at::Tensor& x)>;

  /// In pieces of several sizes, with a gradient that others hold and with one to overwrite.
  void expect_same(const at::Tensor& dy, const at::Tensor& x, const Backward& backward,
                   double tolerance = 1e-10) {
    const at::Tensor other_owner = dy;
    const Gradients expected = backward(dy, x);
    wholes = 0;
    for (const int64_t at_once : {1, 2, 3, 100}) {
      expect_near(backward(dy, in_pieces(x, at_once)), expected, tolerance);
      at::Tensor own = dy.clone();
      const void* const memory = own.const_data_ptr();
      const Gradients into = backward(own, in_pieces(x, at_once));
      expect_near(into, expected, tolerance);
      const at::Tensor& dx = std::get<0>(into);
      if (dx.defined() && is_overwritten(dy, x)) {
        EXPECT_EQ(dx.const_data_ptr(), memory);
      }
      expect_near(backward(dy, x), expected, 0.0);  // neither was changed
    }
    EXPECT_EQ(wholes, 0);
  }

  static bool is_overwritten(const at::Tensor& dy, const at::Tensor& x) {
    return dy.sizes() == x.sizes() && dy.strides() == x.strides() &&
           dy.scalar_type() == x.scalar_type();
  }

  static void expect_near(const Gradients& found, const Gradients& expected, double tolerance) {
    const auto same = [&](const at::Tensor& a, const at::Tensor& b) {
      ASSERT_EQ(a.defined(), b.defined());
      if (!a.defined()) return;
      ASSERT_EQ(a.sizes(), b.sizes());
      ASSERT_EQ(a.scalar_type(), b.scalar_type());
      const at::Tensor scale = b.to(at::kDouble).abs().max().clamp_min(1e-300);
      EXPECT_LE(((a - b).to(at::kDouble).abs().max() / scale).item<double>(), tolerance);
    };
    same(std::get<0>(found), std::get<0>(expected));
    same(std::get<1>(found), std::get<1>(expected));
    same(std::get<2>(found), std::get<2>(expected));
  }

  /// Over the truth, by norms.
  struct Errors {
    Errors(const Gradients& found, const Gradients& truth)
        : of{error(std::get<0>(found), std::get<0>(truth)),
             error(std::get<1>(found), std::get<1>(truth)),
             error(std::get<2>(found), std::get<2>(truth))} {}
    static double error(const at::Tensor& found, const at::Tensor& truth) {
      return ((found.to(at::kDouble) - truth).norm() / truth.norm()).item<double>();
    }
    std::array<double, 3> of;
  };

  int wholes = 0;
};

TEST_F(Pieces, OfConvolutions) {
  struct Case {
    std::vector<int64_t> x, w;
    int64_t stride, padding, groups;
    bool transposed;
  };
  for (const Case& c : {Case{{7, 4, 9}, {6, 4, 3}, 1, 1, 1, false},
                        {{7, 4, 8, 9}, {4, 4, 3, 3}, 1, 1, 1, false},
                        {{5, 4, 8, 9}, {6, 2, 3, 3}, 2, 1, 2, false},
                        {{5, 4, 8, 9}, {4, 3, 2, 2}, 2, 0, 1, true},
                        {{3, 2, 5, 6, 4}, {2, 2, 3, 3, 3}, 1, 1, 1, false}}) {
    const size_t planes = c.x.size() - 2;
    const std::vector<int64_t> stride(planes, c.stride), padding(planes, c.padding),
        ones(planes, 1), zeros(planes, 0);
    const at::Tensor w = at::randn(c.w, at::kDouble);
    for (const bool is_last : {false, true}) {
      at::Tensor x = at::randn(c.x, at::kDouble);
      if (is_last && planes == 2) x = x.contiguous(at::MemoryFormat::ChannelsLast);
      const at::Tensor y =
          at::convolution(x, w, std::nullopt, stride, padding, ones, c.transposed, zeros, c.groups);
      const std::vector<int64_t> bias = {y.size(1)};
      for (const std::array<bool, 3> mask :
           {std::array{true, true, true}, {false, true, false}, {true, false, false}}) {
        expect_same(at::randn_like(y), x, [&](const at::Tensor& dy, const at::Tensor& from) {
          return at::convolution_backward(dy, from, w, bias, stride, padding, ones, c.transposed,
                                          zeros, c.groups, mask);
        });
      }
    }
  }
}

TEST_F(Pieces, OfProducts) {
  const at::Tensor x = at::randn({11, 6}, at::kDouble), dy = at::randn({11, 5}, at::kDouble);
  expect_same(dy, x, [](const at::Tensor& g, const at::Tensor& from) {
    return Gradients{{}, g.t().mm(from.conj()), from.t().conj().mm(g)};
  });
  // The other factor, or both ways round: of the whole.
  EXPECT_TRUE(
      at::allclose(in_pieces(x).mm(at::ones({6, 2}, at::kDouble)), x.sum(1, true).expand({11, 2})));
  EXPECT_TRUE(at::allclose(at::ones({2, 6}, at::kDouble).mm(in_pieces(x).t()),
                           at::ones({2, 6}, at::kDouble).mm(x.t())));
}

TEST_F(Pieces, OfNorms) {
  const at::Tensor x = at::randn({7, 6, 5, 4}, at::kDouble) + 3.0;
  const at::Tensor weight = at::randn({6}, at::kDouble), bias = at::randn({6}, at::kDouble);
  const std::array<bool, 3> all{true, true, true}, input_alone{true, false, false},
      weights_alone{false, true, true};
  for (const bool is_last : {false, true}) {
    const at::Tensor given = is_last ? x.contiguous(at::MemoryFormat::ChannelsLast) : x;
    for (const bool has_weight : {true, false}) {
      const auto w = has_weight ? std::optional(weight) : std::nullopt;
      const auto [y, mean, factor] =
          at::native_batch_norm(given, w, std::nullopt, {}, {}, true, 0.1, 1e-5);
      for (const auto& mask : {all, input_alone, weights_alone}) {
        if (!has_weight && mask != input_alone) continue;
        expect_same(
            at::randn_like(given), given,
            [&, mean = mean, factor = factor](const at::Tensor& dy, const at::Tensor& from) {
              return at::native_batch_norm_backward(dy, from, w, {}, {}, mean, factor, true, 1e-5,
                                                    mask);
            });
      }
    }
  }
  const at::Tensor layer_weight = at::randn({5, 4}, at::kDouble);
  const auto [y, mean, factor] = at::native_layer_norm(x, {5, 4}, layer_weight, layer_weight, 1e-5);
  for (const auto& mask : {all, input_alone, weights_alone}) {
    expect_same(at::randn_like(x), x,
                [&, mean = mean, factor = factor](const at::Tensor& dy, const at::Tensor& from) {
                  return at::native_layer_norm_backward(dy, from, {5, 4}, mean, factor,
                                                        layer_weight, layer_weight, mask);
                });
  }
  const auto [g, group_mean, group_factor] =
      at::native_group_norm(x, weight, bias, 7, 6, 20, 3, 1e-5);
  for (const auto& mask : {all, input_alone, weights_alone}) {
    expect_same(at::randn_like(x), x,
                [&, group_mean = group_mean, group_factor = group_factor](const at::Tensor& dy,
                                                                          const at::Tensor& from) {
                  return at::native_group_norm_backward(dy, from, group_mean, group_factor, weight,
                                                        from.size(0), 6, 20, 3, mask);
                });
  }
}

// One row that all share its statistics with: there is nothing to cut.
TEST_F(Pieces, OfANormOfEverythingAreTheWhole) {
  const at::Tensor x = at::randn({6, 4}, at::kDouble), dy = at::randn({6, 4}, at::kDouble);
  const auto [y, mean, factor] = at::native_layer_norm(x, {6, 4}, {}, {}, 1e-5);
  const auto of = [&, mean = mean, factor = factor](const at::Tensor& from) {
    return at::native_layer_norm_backward(dy, from, {6, 4}, mean, factor, {}, {},
                                          {true, false, false});
  };
  expect_near(of(in_pieces(x)), of(x), 0.0);
  EXPECT_EQ(wholes, 1);
}

// Sums of short numbers are no further from the truth in pieces than as a whole.
TEST_F(Pieces, OfShortTypesAreSummedInFloat) {
  for (const auto type : {at::kBFloat16, at::kHalf}) {
    const at::Tensor x = at::randn({64, 8, 6, 6}).to(type), w = at::randn({8, 8, 3, 3}).to(type),
                     dy = at::randn({64, 8, 6, 6}).to(type);
    const auto convolution = [&](const at::Tensor& gradient, const at::Tensor& from) {
      const std::vector<int64_t> bias = {8};
      return at::convolution_backward(gradient, from, w.to(gradient.scalar_type()), bias, {1, 1},
                                      {1, 1}, {1, 1}, false, {0, 0}, 1, {true, true, true});
    };
    const auto norm = [&](const at::Tensor& gradient, const at::Tensor& from) {
      const auto own = gradient.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
      const at::Tensor weight = at::ones({8}, own), all = x.to(own);
      const at::Tensor mean = all.mean({0, 2, 3}), factor = all.var({0, 2, 3}, false).rsqrt();
      return at::native_batch_norm_backward(gradient, from, weight, {}, {}, mean, factor, true,
                                            1e-5, {true, true, true});
    };
    for (const Backward& backward : {Backward(convolution), Backward(norm)}) {
      const Gradients truth = backward(dy.to(at::kDouble), x.to(at::kDouble));
      const Errors of_whole(backward(dy, x), truth);
      const at::Tensor other_owner = dy;
      for (const int64_t at_once : {1, 3, 16}) {
        const Errors found(backward(dy, in_pieces(x, at_once)), truth);
        for (size_t i = 0; i < 3; ++i) {
          EXPECT_LE(found.of[i], 1.05 * of_whole.of[i] + 0x1p-9) << type << ' ' << i;
        }
      }
    }
  }
}

TEST_F(Pieces, OtherOperationsGetTheWhole) {
  const at::Tensor x = at::randn({6, 4});
  const at::Tensor pieces = in_pieces(x);
  EXPECT_TRUE(at::equal(pieces + 1.0, x + 1.0));
  EXPECT_TRUE(at::equal(at::cat({pieces, x}), at::cat({x, x})));
  EXPECT_TRUE(at::equal(pieces.index({at::tensor({2, 1})}), x.index({at::tensor({2, 1})})));
  EXPECT_TRUE(at::equal(pieces.t().contiguous(), x.t().contiguous()));
  EXPECT_EQ(pieces.sizes(), x.sizes());
  EXPECT_EQ(pieces.scalar_type(), at::kFloat);
  EXPECT_EQ(wholes, 1);  // which it holds, the turned one too
}

}  // namespace fewbit::pieces_test
