// Pooling saves sizes, and where the greatest were.
#include <string>

#include <c10/util/accumulate.h>

#include "compression/operators/operator.hpp"

namespace fewbit::session {

namespace {

constexpr SavePolicy kPlaces = {StorageKind::integers};

std::vector<int64_t> plane_of(const NamedArguments& arguments, size_t dimensions) {
  const at::Tensor self = arguments.tensor("self");
  return self.sizes().slice(self.sizes().size() - dimensions).vec();
}

template <size_t kDimensions>
codecs::CodecPointer places_in_windows(const NamedArguments& arguments) {
  const auto list = [&](std::string_view name) {
    std::vector<int64_t> numbers = arguments[name].toIntVector();
    if (numbers.size() == 1) numbers.resize(kDimensions, numbers[0]);
    return numbers;
  };
  codecs::Windows windows{plane_of(arguments, kDimensions), list("kernel_size"), list("stride"),
                          list("padding"), list("dilation")};
  if (windows.stride.empty()) windows.stride = windows.kernel;
  return codecs::places(windows);
}

/// Windows are of different sizes.
template <size_t kDimensions>
codecs::CodecPointer places_in_plane(const NamedArguments& arguments) {
  return codecs::integers_below(c10::multiply_integers(plane_of(arguments, kDimensions)));
}

const std::vector<SavedArgument> kGreatest = {{"self", kSizes}, {kResult, kPlaces}};

Operator max_pool(std::string_view name, codecs::CodecPointer (*places)(const NamedArguments&)) {
  return {
      .name = name,
      .arguments = {"self", "kernel_size", "stride", "padding", "dilation", "ceil_mode"},
      .saves = kGreatest,
      .holds_arguments = true,
      .integers = places,
      .turns_often = true,
  };
}

Operator adaptive(std::string_view name, codecs::CodecPointer (*places)(const NamedArguments&)) {
  return {.name = name,
          .arguments = {"self", "output_size"},
          .saves = kGreatest,
          .holds_arguments = true,
          .integers = places,
          .turns_often = true};
}

const OperatorFamily kMaxima = {max_pool("max_pool2d_with_indices", places_in_windows<2>),
                                max_pool("max_pool3d_with_indices", places_in_windows<3>),
                                adaptive("adaptive_max_pool2d", places_in_plane<2>),
                                adaptive("adaptive_max_pool3d", places_in_plane<3>)};
const OperatorFamily kOuterMaxima(alike({"max_pool1d", "max_pool2d", "max_pool3d"},
                                        {.turns_often = true}));

const OperatorFamily kMeans(alike({"avg_pool2d", "avg_pool3d", "_adaptive_avg_pool2d",
                                   "_adaptive_avg_pool3d"},
                                  {.arguments = {"self"}, .saves = {{"self", kSizes}}}));

}  // namespace

}  // namespace fewbit::session
