// Integers whose range is known without a look at them: indices into a plane, and those of pooling,
// which lie in windows.
#include <algorithm>
#include <utility>
#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <c10/util/accumulate.h>

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

/// Where in the plane each window of indices [..., rows, columns] starts, to broadcast with them;
/// before the plane where that is padded.
at::Tensor starts_of(const Windows& windows, const at::Tensor& indices) {
  const auto dimensions = static_cast<int64_t>(windows.plane.size());
  at::Tensor starts = at::zeros({}, indices.options());
  int64_t factor = 1;
  for (int64_t k = dimensions - 1; k >= 0; --k) {
    const auto i = static_cast<size_t>(k);
    const int64_t count = indices.size(indices.dim() - dimensions + k);
    std::vector<int64_t> beside(windows.plane.size(), 1);
    beside[i] = count;
    const at::Tensor along = at::arange(count, indices.options());
    starts = starts.add(along.mul(windows.stride[i]).sub(windows.padding[i]).view(beside), factor);
    factor *= windows.plane[i];
  }
  return starts;
}

/// How far each place of a window is from its start. Made by the device itself: it would wait for a
/// copy of the host's.
at::Tensor offsets_of(const Windows& windows, const at::TensorOptions& options) {
  at::Tensor offsets = at::zeros({1}, options);
  int64_t factor = 1;
  for (size_t i = windows.plane.size(); i-- > 0;) {
    const at::Tensor along = at::arange(windows.kernel[i], options);
    offsets = along.mul(windows.dilation[i] * factor).unsqueeze(1).add(offsets).flatten();
    factor *= windows.plane[i];
  }
  return offsets;
}

/// The place of each offset: one of several, where windows are wider than the plane.
at::Tensor places_of(const Windows& windows, const at::TensorOptions& options) {
  const at::Tensor offsets = offsets_of(windows, options);
  int64_t greatest = 0;
  int64_t factor = 1;
  for (size_t i = windows.plane.size(); i-- > 0;) {
    greatest += (windows.kernel[i] - 1) * windows.dilation[i] * factor;
    factor *= windows.plane[i];
  }
  const auto type = offsets.numel() <= 256 ? at::kByte : at::kInt;
  const at::Tensor places = at::arange(offsets.numel(), options.dtype(type));
  return at::zeros({greatest + 1}, options.dtype(type)).scatter_(0, offsets, places);
}

/// Of a flat run. Libtorch has no index_select without numbers.
at::Tensor of_each(const at::Tensor& table, const at::Tensor& indices) {
  return indices.is_meta() ? indices.to(table.scalar_type()) : table.index_select(0, indices);
}

class PlacesRun final : public Encoded {
 public:
  PlacesRun(const Windows& windows, const at::Tensor& x)
      : windows_(windows), shape_(x.sizes().vec()), strides_(x.strides().vec()) {
    const at::Tensor from_start = x.sub(starts_of(windows_, x));
    const at::Tensor table = places_of(windows_, x.options());
    const int bits = ops::integer_bits(0, c10::multiply_integers(windows_.kernel) - 1);
    const at::Tensor offsets = flat(from_start.as_strided(shape_, strides_));
    run_ = std::make_shared<BelowRun>(of_each(table, offsets), bits);
  }

  at::Tensor decoded() const override {
    const at::Tensor places = run_->decoded().to(at::kInt);
    const at::Tensor table = offsets_of(windows_, places.options().dtype(at::kLong));
    const at::Tensor indices = of_each(table, places).as_strided(shape_, strides_);
    return flat(indices.add_(starts_of(windows_, indices)));
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
