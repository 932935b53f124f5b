#include "kernels/quantizer/group_samples.hpp"

namespace fewbit::kernels {

namespace {

int64_t parts_of_one(const Samples& samples, int64_t group) {
  return group_count(samples.count, encode_unit(group));
}

/// Where a sample's elements, codes and constants begin, in bytes.
struct SamplePlace {
  int64_t elements;
  int64_t codes;
  int64_t constants;
};

SamplePlace place_of(const GroupFormat& format, const Samples& samples, int64_t sample) {
  return {sample * samples.count * element_bytes(format.type), samples.offsets[sample],
          sample * group_count(samples.count, format.group) * constant_bytes(format.type)};
}

/// Calls body(format, place, range) for what the parts [begin, end) are of each sample.
template <class Body>
void for_samples(const GroupFormat& format, const Samples& samples, int64_t begin, int64_t end,
                 const Body& body) {
  const int64_t unit = encode_unit(format.group);
  const int64_t parts = parts_of_one(samples, format.group);
  while (begin < end) {
    const int64_t sample = begin / parts;
    const int64_t first = begin % parts;
    const int64_t last = std::min(parts, first + end - begin);
    const Range range{first * unit, std::min(last * unit, samples.count), samples.count};
    body(format_of(format, sample, samples.bits[sample]), place_of(format, samples, sample), range);
    begin += last - first;
  }
}

}  // namespace

std::vector<int64_t> code_offsets(const uint8_t* bits, int64_t number, int64_t count) {
  std::vector<int64_t> offsets{0};
  offsets.reserve(static_cast<size_t>(number) + 1);
  for (int64_t i = 0; i < number; ++i) {
    offsets.push_back(offsets.back() + code_bytes(count, bits[i]));
  }
  return offsets;
}

GroupFormat format_of(const GroupFormat& format, int64_t sample, int bits) {
  GroupFormat own = format;
  own.bits = bits;
  own.random.offset += static_cast<uint64_t>(sample) << 32;
  return own;
}

int64_t part_count(const Samples& samples, int64_t group) {
  return samples.number * parts_of_one(samples, group);
}

void group_encode_samples(const GroupFormat& format, const Samples& samples, const void* x,
                          uint8_t* codes, void* constants, int64_t begin, int64_t end) {
  for_samples(format, samples, begin, end,
              [&](const GroupFormat& own, const SamplePlace& at, const Range& range) {
                group_encode(own, static_cast<const uint8_t*>(x) + at.elements, codes + at.codes,
                             static_cast<uint8_t*>(constants) + at.constants, range);
              });
}

void group_decode_samples(const GroupFormat& format, const Samples& samples, const uint8_t* codes,
                          const void* constants, void* x, int64_t begin, int64_t end) {
  for_samples(format, samples, begin, end,
              [&](const GroupFormat& own, const SamplePlace& at, const Range& range) {
                group_decode(own, codes + at.codes,
                             static_cast<const uint8_t*>(constants) + at.constants,
                             static_cast<uint8_t*>(x) + at.elements, range);
              });
}

}  // namespace fewbit::kernels
