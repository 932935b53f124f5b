// What a name on the command line says of a sample file: where it is and how it is written.
#include "weights/sample_names.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <utility>

#include "base/error.hpp"
#include "weights/npy_header.hpp"

namespace fewbit::solver {

namespace {

using Kind = SampleFormat::Kind;
using Items = ItemType::Kind;

constexpr std::string_view kArchive = ".npz";
constexpr size_t kSniffed = 4096;

const std::array<std::pair<std::string_view, SampleFormat>, 8> kFormats = {{
    {"npy", {Kind::npy, {}}},
    {"npy:bf16", {Kind::npy, Items::bf16}},
    {"csv", {Kind::csv, {}}},
    {"raw", {Kind::raw, {}}},
    {"raw:f16", {Kind::raw, Items::f16}},
    {"raw:bf16", {Kind::raw, Items::bf16}},
    {"raw:f32", {Kind::raw, Items::f32}},
    {"raw:f64", {Kind::raw, Items::f64}},
}};

/// By the first bytes: a .npy file has its mark, text has no control characters but blanks.
SampleFormat sniff(ByteSource& source) {
  std::array<char, kSniffed> buffer{};
  const std::string_view start(buffer.data(), source.read(buffer));
  source.rewind();
  if (start.starts_with(kNpyMagic)) return {Kind::npy, {}};
  const bool text = std::all_of(start.begin(), start.end(), [](char byte) {
    return static_cast<unsigned char>(byte) >= ' ' || byte == '\t' || byte == '\n' || byte == '\r';
  });
  if (text) return {Kind::csv, {}};
  throw Error("is neither .npy nor text: say what it is by --sample-format", source.name());
}

}  // namespace

SampleFormat parse_sample_format(std::string_view text) {
  std::string accepted;
  for (const auto& [name, format] : kFormats) {
    if (name == text) return format;
    accepted += (accepted.empty() ? "" : ", ") + std::string(name);
  }
  throw Error("sample-format: '" + std::string(text) + "' is none of " + accepted);
}

SampleFormat sample_format(const std::string& path) {
  if (path.ends_with(".npy")) return {Kind::npy, {}};
  if (path.ends_with(".csv")) return {Kind::csv, {}};
  if (path.ends_with(".f32") || path.ends_with(".raw")) return {Kind::raw, {}};
  throw Error(
      "samples are read from .npy, .npz, .csv, .f32 or .raw files; say what this one is by "
      "--sample-format",
      path);
}

std::unique_ptr<SampleReader> open_samples(const std::string& name,
                                           const std::optional<SampleFormat>& format) {
  if (name == "-") {
    auto source = piped_source(std::cin, "standard input");
    const SampleFormat found = format ? *format : sniff(*source);
    return make_sample_reader(std::move(source), found);
  }
  const size_t archive = name.ends_with(kArchive) ? name.size() - kArchive.size()
                                                  : name.rfind(std::string(kArchive) + ":");
  if (archive != std::string::npos) {
    const size_t end = archive + kArchive.size();
    if (format && format->kind != Kind::npy) {
      throw Error("the arrays of an archive are read as npy or npy:bf16", name);
    }
    const std::string key = end < name.size() ? name.substr(end + 1) : "";
    return make_sample_reader(npz_source(name.substr(0, end), key),
                              format.value_or(SampleFormat{}));
  }
  const SampleFormat found = format ? *format : sample_format(name);
  return make_sample_reader(file_source(name), found);
}

std::unique_ptr<SampleReader> make_sample_reader(std::unique_ptr<ByteSource> source,
                                                 const SampleFormat& format) {
  switch (format.kind) {
    case Kind::npy:
      return make_npy_reader(std::move(source), format.items == Items::bf16);
    case Kind::csv:
      return make_csv_reader(std::move(source));
    case Kind::raw:
      break;
  }
  return make_raw_reader(std::move(source), {format.items.value_or(Items::f32), false});
}

}  // namespace fewbit::solver
