#include <algorithm>
#include <string>
#include <type_traits>

#include "bench/counts/arguments.hpp"
#include "kernels/quantizer/cuda/group_arguments.hpp"
#include "kernels/quantizer/cuda/integer_arguments.hpp"
#include "kernels/quantizer/cuda/rotated_arguments.hpp"
#include "kernels/quantizer/cuda/spread_codes.hpp"
#include "kernels/quantizer/integers.hpp"

namespace fewbit::counts {

namespace {

using kernels::ElementType;
using kernels::IntegerType;
using nlohmann::ordered_json;

namespace cuda = kernels::cuda;

constexpr ElementType kFloats[] = {ElementType::f32, ElementType::bf16, ElementType::f16};

/// `bytes`: that the pass moves, by the element.
ordered_json row_of(const std::string& kernel, const std::string& type, int bits, double bytes,
                    const Bytes& arguments) {
  return {{"kernel", kernel}, {"type", type},   {"bits", bits},
          {"bytes", bytes},   {"elements", 32}, {"arguments", arguments.hex()}};
}

std::string name_of(ElementType type) {
  return kTypeNames[static_cast<int>(type)];
}

kernels::DevicePhilox random_words() {
  return {address<const uint64_t>(4), 0};
}

double moved(ElementType type, int bits, int group) {
  return static_cast<double>(kernels::element_bytes(type)) + bits / 8.0 + 4.0 / group;
}

/// How rotated groups are coded; states of a trellis, 0: none; bits of a class, 0: without classes.
struct Rotated {
  int group, bits, states = 0, class_bits = 0;

  /// "trellis_class_".
  std::string kind() const {
    const std::string kind = states == 0 ? "rotated_" : "trellis_";
    return class_bits == 0 ? kind : kind + "class_";
  }
};

cuda::RotatedEncodeArguments encode_arguments(int bits, int states) {
  return {address<void>(1),
          address<uint8_t>(2),
          address<void>(3),
          kCount,
          kCount,
          bits,
          states,
          true,
          true,
          random_words()};
}

cuda::RotatedDecodeArguments decode_arguments(int bits, int states) {
  return {address<uint8_t>(2),
          address<void>(3),
          address<void>(1),
          kCount,
          kCount,
          bits,
          states,
          true,
          true,
          random_words()};
}

/// Of a trellis's encoding what a thread issues that has a group to search, as few have.
void add_rotated(ordered_json& rows, ElementType type, const Rotated& form) {
  const auto& [group, bits, states, class_bits] = form;
  const double bytes = moved(type, bits, group) + class_bits / 8.0;
  const std::string type_name = name_of(type);
  const std::string which = " " + type_name + " " + std::to_string(group);
  const cuda::ClassArguments classes = {
      {address<uint8_t>(5), class_bits, address<float>(6), 1 << class_bits}, true};
  const auto add = [&](const std::string& pass, const auto& arguments, const auto& table) {
    Bytes all;
    all << arguments;
    if (class_bits != 0) all << classes;
    rows.push_back(row_of(form.kind() + pass + which, type_name, bits, bytes, all << table));
    if (states != 0) rows.back()["states"] = states;
    if (class_bits != 0) rows.back()["class_bits"] = class_bits;
  };
  const cuda::RotatedEncodeArguments encode = encode_arguments(bits, states);
  states == 0 ? add("encode", encode, cuda::MagnitudeTree{})
              : add("encode", encode, cuda::TrellisTree{});
  add("decode", decode_arguments(bits, states), cuda::CodeLevels{});
}

/// Of several tensors in a launch.
void add_together(ordered_json& rows, ElementType type, int group, int bits) {
  const auto add = [&](const std::string& pass, const auto& arguments, const auto& table) {
    cuda::Together<std::remove_cvref_t<decltype(arguments)>, cuda::kMostTogether> together;
    std::ranges::fill(together.of, arguments);
    rows.push_back(row_of(pass + " " + name_of(type) + " " + std::to_string(group), name_of(type),
                          bits, moved(type, bits, group), Bytes() << together << table));
  };
  add("rotated_encode_together", encode_arguments(bits, 0), cuda::MagnitudeTree{});
  add("rotated_decode_together", decode_arguments(bits, 0), cuda::CodeLevels{});
}

/// `encoding` and `decoding`: what a kernel's name says of how it rounds.
void add_group(ordered_json& rows, ElementType type, int bits, const std::string& encoding,
               const std::string& decoding) {
  constexpr int kShift = 8;
  const double bytes = moved(type, bits, 1 << kShift);
  const std::string type_name = name_of(type);
  const cuda::GroupEncodeArguments encode = {
      address<void>(1), address<uint8_t>(2), address<void>(3), kCount, kShift, bits, true, true,
      random_words()};
  rows.push_back(
      row_of("group_encode " + type_name + encoding, type_name, bits, bytes, Bytes() << encode));
  const cuda::GroupDecodeArguments decode = {
      address<uint8_t>(2), address<void>(3), address<void>(1), kCount, kShift, bits, true, true,
      random_words()};
  rows.push_back(
      row_of("group_decode " + type_name + decoding, type_name, bits, bytes, Bytes() << decode));
}

void add_masks(ordered_json& rows, const std::string& type, int64_t size) {
  const double bytes = static_cast<double>(size) + 0.125;
  const cuda::MaskEncodeArguments encode = {address<void>(1), address<uint8_t>(2), kCount, true};
  rows.push_back(row_of("mask_encode " + type, type, 1, bytes, Bytes() << encode));
  const cuda::MaskDecodeArguments decode = {address<uint8_t>(2), address<void>(1), kCount, true};
  rows.push_back(row_of("mask_decode " + type, type, 1, bytes, Bytes() << decode));
}

void add_integers(ordered_json& rows, IntegerType type, const std::string& name, int bits) {
  const double bytes = static_cast<double>(kernels::element_bytes(type)) + bits / 8.0;
  const cuda::IntegerEncodeArguments encode = {
      address<void>(1), address<uint8_t>(2), kCount, 0, bits, cuda::per_bit_of(bits)};
  rows.push_back(row_of("integer_encode " + name, name, bits, bytes, Bytes() << encode));
  const cuda::IntegerDecodeArguments decode = {address<uint8_t>(2), address<void>(1), kCount, 0,
                                               bits};
  rows.push_back(row_of("integer_decode " + name, name, bits, bytes, Bytes() << decode));
}

}  // namespace

ordered_json quantizer_passes() {
  ordered_json rows = ordered_json::array();
  for (const ElementType type : kFloats) {
    for (const int group : {64, 128, 256, 512, 1024}) {
      for (const int bits : {2, 3, 4, 8}) add_rotated(rows, type, {group, bits});
    }
    for (const int bits : {2, 3}) add_together(rows, type, 256, bits);
    for (const int group : {64, 256, 1024}) {
      for (const int bits : {2, 3}) {
        for (const int states : {4, 8}) add_rotated(rows, type, {group, bits, states});
      }
    }
    for (const int class_bits : {1, 2, 3}) add_rotated(rows, type, {256, 2, 0, class_bits});
    for (const int states : {4, 8}) add_rotated(rows, type, {256, 2, states, 3});
    for (const int bits : {2, 4, 8}) {
      add_group(rows, type, bits, "", "");
      add_group(rows, type, bits, " random", " dithered");
      add_group(rows, type, bits, " squares", " squares");
    }
  }
  for (const ElementType type : kTypes) {
    add_masks(rows, name_of(type), kernels::element_bytes(type));
  }
  add_masks(rows, "bool", 1);
  for (const int bits : {8, 17}) {
    add_integers(rows, IntegerType::i32, "i32", bits);
    add_integers(rows, IntegerType::i64, "i64", bits);
  }
  add_integers(rows, IntegerType::u8, "u8", 4);
  return rows;
}

}  // namespace fewbit::counts
