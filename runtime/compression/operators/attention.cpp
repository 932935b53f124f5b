// Queries, keys and values are saved; attention runs again on what is decoded.
#include "compression/operators/operator.hpp"

namespace fewbit::session {

namespace {

/// In torch's own form it would be 16.
constexpr SavePolicy kQuadraticIn = {StorageKind::rotated, 4.0};

const OperatorFamily kAttentions = {
    {.name = "attention",
     .library = "fewbit",
     .arguments = {"query", "key", "value", "attn_mask"},
     .saves = {{"query", kQuadraticIn}, {"key", kQuadraticIn}, {"value", kQuadraticIn}},
     .holds_arguments = true,
     .effect = Effect::sums},
    {.name = "scaled_dot_product_attention", .effect = Effect::sums},
};

}  // namespace

at::Tensor mask_of_attention(const SaveEvent& event) {
  return NamedArguments(*find_operator(kAttention), *event.arguments).tensor("attn_mask");
}

}  // namespace fewbit::session
