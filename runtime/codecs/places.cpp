// Integers whose range is known without a look at them: indices into a plane, and those of pooling,
// which lie in windows.
#include <algorithm>
#include <utility>
#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>

#include "codecs/codec.hpp"
#include "codecs/common.hpp"
#include "ops/integers.hpp"

namespace fewbit::codecs {

namespace {

class BelowRun final : public Encoded {
 public:
  BelowRun(const at::Tensor& x, int bits)
      : count_(x.numel()),
        dtype_(x.scalar_type()),
        bits_(bits),
        codes_(ops::integer_encode(x, 0, bits)) {}

  at::Tensor decoded() const override {
    return ops::integer_decode(codes_, count_, 0, bits_, dtype_);
  }

  at::TensorList tensors() const override { return codes_; }

 private:
  int64_t count_;
  at::ScalarType dtype_;
  int bits_;
  at::Tensor codes_;
};

class Below final : public Codec {
 public:
  explicit Below(int64_t bound) : bits_(ops::integer_bits(0, bound - 1)) {}

  std::string name() const override { return "integers"; }
  bool takes(const at::Tensor& x) const override {
    return bits_ <= 32 && (x.scalar_type() == at::kLong || x.scalar_type() == at::kInt);
  }
  std::shared_ptr<const Encoded> encode(const at::Tensor& x,
                                        const RandomStream& /*random*/) const override {
    return std::make_shared<BelowRun>(x, bits_);
  }

 private:
  int bits_;
};

/// Visits the plane's dimensions, the last one first: its number, and where windows start in it, to
/// broadcast with indices [..., rows, columns].
template <class Visit>
void for_each_dimension(const Windows& windows, const at::Tensor& indices, const Visit& visit) {
  const auto dimensions = static_cast<int64_t>(windows.plane.size());
  for (int64_t k = dimensions - 1; k >= 0; --k) {
    const auto i = static_cast<size_t>(k);
    const int64_t count = indices.size(indices.dim() - dimensions + k);
    std::vector<int64_t> beside(windows.plane.size(), 1);
    beside[i] = count;
    const at::Tensor starts = at::arange(count, indices.options())
                                  .mul_(windows.stride[i])
                                  .sub_(windows.padding[i])
                                  .view(beside);
    visit(i, starts);
  }
}

/// Computed in half the bytes where planes allow it.
at::ScalarType computed_type(const Windows& windows) {
  constexpr int64_t kMost = int64_t{1} << 30;  // with what windows reach beyond a plane
  int64_t count = 1;
  for (const int64_t size : windows.plane) count *= std::min(size, kMost);
  return count < kMost ? at::kInt : at::kLong;
}

class PlacesRun final : public Encoded {
 public:
  PlacesRun(const Windows& windows, const at::Tensor& x)
      : windows_(windows), shape_(x.sizes().vec()), strides_(x.strides().vec()) {
    at::Tensor rest = x.to(computed_type(windows_)), places = at::zeros_like(rest);
    int64_t factor = 1;
    for_each_dimension(windows_, rest, [&](size_t i, const at::Tensor& starts) {
      const at::Tensor next = rest.div(windows_.plane[i], "floor");
      const at::Tensor coordinate = rest.sub(next, windows_.plane[i]);
      places.add_(coordinate.sub_(starts).div(windows_.dilation[i], "floor"), factor);
      factor *= windows_.kernel[i];
      rest = next;
    });
    run_ = std::make_shared<BelowRun>(places, ops::integer_bits(0, factor - 1));
  }

  at::Tensor decoded() const override {
    at::Tensor rest = run_->decoded().as_strided(shape_, strides_);
    at::Tensor indices = at::zeros_like(rest);
    int64_t factor = 1;
    for_each_dimension(windows_, rest, [&](size_t i, const at::Tensor& starts) {
      const at::Tensor next = rest.div(windows_.kernel[i], "floor");
      const at::Tensor place = rest.sub(next, windows_.kernel[i]);
      indices.add_(place.mul_(windows_.dilation[i]).add_(starts), factor);
      factor *= windows_.plane[i];
      rest = next;
    });
    return flat(indices).to(at::kLong);
  }

  at::TensorList tensors() const override { return run_->tensors(); }

 private:
  Windows windows_;
  std::vector<int64_t> shape_;
  std::vector<int64_t> strides_;
  std::shared_ptr<const Encoded> run_;
};

class Places final : public Codec {
 public:
  explicit Places(Windows windows) : windows_(std::move(windows)) {}

  std::string name() const override { return "integers"; }
  bool takes(const at::Tensor& x) const override {
    return x.scalar_type() == at::kLong && x.dim() >= static_cast<int64_t>(windows_.plane.size());
  }
  std::shared_ptr<const Encoded> encode(const at::Tensor& x,
                                        const RandomStream& /*random*/) const override {
    return std::make_shared<PlacesRun>(windows_, x);
  }

 private:
  Windows windows_;
};

}  // namespace

CodecPointer integers_below(int64_t bound) {
  TORCH_CHECK(bound > 0, "integers_below: bound is ", bound, ", accepted: above 0");
  return std::make_shared<Below>(bound);
}

CodecPointer places(const Windows& windows) {
  const size_t dimensions = windows.plane.size();
  TORCH_CHECK(windows.kernel.size() == dimensions && windows.stride.size() == dimensions &&
                  windows.padding.size() == dimensions && windows.dilation.size() == dimensions,
              "places: of windows in ", dimensions,
              " dimensions, kernel, stride, padding and dilation have ", windows.kernel.size(),
              ", ", windows.stride.size(), ", ", windows.padding.size(), " and ",
              windows.dilation.size());
  return std::make_shared<Places>(windows);
}

}  // namespace fewbit::codecs
