// Sessions whose forward runs on several streams: gradients are those of one stream, in whatever
// order they run.
#include "tests/stand_in/device/streams.hpp"

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <gtest/gtest.h>

#include "fewbit/fewbit.hpp"
#include "tests/stand_in/device/device.hpp"
#include "tests/stand_in/networks.hpp"

namespace fewbit::stand_in_streams_test {

using stand_in::kDevice;
using test::SmallNetwork;
using Tensors = SmallNetwork::Tensors;

/// Another stream, or with `is_one` the same, and what a program does to share tensors with it.
class Side {
 public:
  explicit Side(bool is_one)
      : main_(stand_in::current_stream(0)), stream_(is_one ? main_ : stand_in::pool_stream(0)) {}

  /// What the function makes of x on this stream; the main one waits for it.
  template <class Function>
  at::Tensor run(const at::Tensor& x, const Function& function) const {
    follow(main_, stream_);
    x.record_stream(stream_);
    at::Tensor y;
    {
      const c10::StreamGuard guard(stream_);
      y = function(x);
    }
    y.record_stream(main_);
    follow(stream_, main_);
    return y;
  }

 private:
  static void follow(c10::Stream first, c10::Stream then) {
    c10::Event event(kDevice);
    event.record(first);
    event.block(then);
  }

  c10::Stream main_;
  c10::Stream stream_;
};

using Loss = at::Tensor(const at::Tensor& x, const Tensors& p, const Side& side);

/// Gradients of a loss that uses a side stream are those of the same one without, order by order.
void expect_as_on_one_stream(Loss* loss, int parameters, const CompressorOptions& options,
                             int64_t rows = 32) {
  at::manual_seed(9);
  SmallNetwork one{"one stream", at::randn({rows, 48}), {}, {}};
  for (int i = 0; i < parameters; ++i)
    one.parameters.push_back(test::small_parameter({48, 48}, 0.2));
  one = one.on(c10::Device(kDevice, 0));
  SmallNetwork two = one;
  one.loss = [loss](const at::Tensor& x, const Tensors& p) { return loss(x, p, Side(true)); };
  two.loss = [loss](const at::Tensor& x, const Tensors& p) { return loss(x, p, Side(false)); };
  for (uint64_t order = 0; order < (options.offload ? 2 : 5); ++order) {
    stand_in::set_order(order);
    Compressor of_one(options), of_two(options);
    for (int step = 0; step < 2; ++step) {
      const at::Tensor expected = one.gradient(&of_one);
      ASSERT_TRUE(at::equal(two.gradient(&of_two), expected))
          << "order " << order << ", step " << step << '\n'
          << of_two.report();
    }
  }
}

at::Tensor shared_input(const at::Tensor& x, const Tensors& p, const Side& side) {
  const at::Tensor h = at::linear(x, p[0]);
  const at::Tensor beside = side.run(h, [&](const at::Tensor& y) { return at::linear(y, p[1]); });
  return (at::linear(h, p[2]) + beside).sum();
}

at::Tensor shared_input_side_first(const at::Tensor& x, const Tensors& p, const Side& side) {
  const at::Tensor h = at::linear(x, p[0]);
  const at::Tensor beside = side.run(h, [&](const at::Tensor& y) { return at::linear(y, p[1]); });
  return at::linear(at::linear(h, p[2]), p[3]).sum() + beside.sum();
}

at::Tensor norm_and_activation(const at::Tensor& x, const Tensors& p, const Side& side) {
  const at::Tensor h = at::layer_norm(at::linear(x, p[0]), {48});
  const at::Tensor y = side.run(h, [](const at::Tensor& z) { return at::leaky_relu(z, 0.1); });
  return at::linear(y, p[1]).sum();
}

at::Tensor product(const at::Tensor& x, const Tensors& p, const Side& side) {
  const at::Tensor a = at::linear(x, p[0]), b = at::linear(x, p[1]);
  const at::Tensor y = side.run(a * b, [&](const at::Tensor& z) { return at::linear(z, p[2]); });
  return at::linear(at::relu(y), p[3]).square().mean();
}

TEST(StandInStreams, ShareWhatTwoLayersSave) {
  expect_as_on_one_stream(shared_input, 3, {.bits = 2});
  expect_as_on_one_stream(shared_input_side_first, 4, {.bits = 2});
}

TEST(StandInStreams, RunAnActivationBehindANorm) {
  expect_as_on_one_stream(norm_and_activation, 2, {.bits = 2});
}

TEST(StandInStreams, RunALayerBehindAProduct) {
  expect_as_on_one_stream(product, 4, {.bits = 2});
}

TEST(StandInStreams, OffloadFromEitherStream) {
  expect_as_on_one_stream(shared_input, 3, {.bits = 4, .offload = true}, 256);
  expect_as_on_one_stream(product, 4, {.bits = 4, .offload = true}, 256);
}

TEST(StandInStreams, HoldDecodedTensorsForOne) {
  expect_as_on_one_stream(shared_input, 3, {.bits = 2, .decoded_cache_bytes = 1 << 20});
}

}  // namespace fewbit::stand_in_streams_test
