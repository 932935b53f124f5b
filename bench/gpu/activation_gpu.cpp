// activation_gpu [--out FOLDER] [--commit NAME] [--smallest E] [--largest E] [FUNCTION...]: the
// time of every function's passes beside a device copy of the same bytes, for 2^E elements, E from
// 20 to
// 30. Prints Markdown, and writes activation.md and activation.json into FOLDER. Exit 77 where
// there is no device.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <random>

#include "bench/gpu/report.hpp"
#include "bench/gpu/subjects.hpp"
#include "bench/gpu/timer.hpp"
#include "kernels/half.hpp"
#include "kernels/stream/code_stream.hpp"

namespace fewbit::bench {

namespace {

using device::Memory;
using kernels::ElementType;

struct Options {
  std::string out;
  std::string commit = "unknown";
  int smallest = 20;
  int largest = 30;
  std::vector<std::string> functions;
};

struct NamedType {
  ElementType type;
  const char* name;
};

constexpr NamedType kTypes[] = {
    {ElementType::f32, "fp32"}, {ElementType::bf16, "bf16"}, {ElementType::f16, "fp16"}};

/// Device memory for the passes over so many elements and for copies of as many bytes, x filled
/// with a repetition of 2^16 normal numbers.
struct Room {
  explicit Room(int64_t count)
      : x(9 * count / 2),
        y(9 * count / 2),
        codes(kernels::code_bytes(count, 8)),
        seed(sizeof(uint64_t)) {
    seed.upload({1, 0, 0, 0, 0, 0, 0, 0});
  }

  void fill(ElementType type, int64_t count) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<uint8_t> values;
    for (int i = 0; i < 1 << 16; ++i) {
      const float value = normal(random);
      const uint16_t half = kernels::half_from_float(type, value);
      const auto* bytes = type == ElementType::f32 ? reinterpret_cast<const uint8_t*>(&value)
                                                   : reinterpret_cast<const uint8_t*>(&half);
      values.insert(values.end(), bytes, bytes + element_bytes(type));
    }
    const auto size = static_cast<int64_t>(values.size());
    x.upload(values);
    for (int64_t done = size; done < count * element_bytes(type); done *= 2) {
      const int64_t more = std::min(done, count * element_bytes(type) - done);
      check(cudaMemcpy(x.at(done), x.at(), static_cast<size_t>(more), cudaMemcpyDeviceToDevice),
            "fill");
    }
    check(cudaDeviceSynchronize(), "fill");
  }

  const uint64_t* seed_at() const { return reinterpret_cast<const uint64_t*>(seed.at()); }

  Memory x, y, codes, seed;
};

class Measurement {
 public:
  explicit Measurement(const Options& options)
      : options_(options), room_(int64_t{1} << options.largest) {}

  std::vector<Row> run() {
    for (const NamedType& type : kTypes) {
      room_.fill(type.type, int64_t{1} << options_.largest);
      for (int exponent = options_.smallest; exponent <= options_.largest; exponent += 2) {
        for (const std::string& function : options_.functions) {
          for (const GpuSubject& subject : subjects_of(function)) {
            measure(subject, type, int64_t{1} << exponent);
          }
        }
        std::fprintf(stderr, "%s, 2^%d elements: done\n", type.name, exponent);
      }
    }
    return std::move(rows_);
  }

 private:
  /// The faster of two copies of half the bytes, which reads and writes as much as the pass.
  double copy_seconds(int64_t bytes) {
    const int64_t half = bytes / 32 * 16;
    const auto known = copies_.find(half);
    if (known != copies_.end()) return known->second;
    const double by_driver = timer_.seconds([&](cudaStream_t stream) {
      return cudaMemcpyAsync(room_.y.at(), room_.x.at(), static_cast<size_t>(half),
                             cudaMemcpyDeviceToDevice, stream);
    });
    const double by_kernel = timer_.seconds([&](cudaStream_t stream) {
      return copy_vectors(room_.x.at(), room_.y.at(), half, stream);
    });
    return copies_[half] = std::min(by_driver, by_kernel);
  }

  void measure(const GpuSubject& subject, const NamedType& type, int64_t count) {
    const uint8_t* x = room_.x.at();
    const double forward = timer_.seconds([&](cudaStream_t stream) {
      if (subject.is_unbiased) {
        return kernels::cuda::activation_forward_unbiased(
            *subject.function, nullptr, subject.steps, {room_.seed_at(), 0}, type.type, x,
            room_.y.at(), room_.codes.at(), count, stream);
      }
      return kernels::cuda::activation_forward(*subject.function, nullptr, subject.steps, type.type,
                                               x, room_.y.at(), room_.codes.at(), count, stream);
    });
    add(subject, type, count, "forward", forward);
    // It depends on type and bits only: one function is enough, one whose codes vary.
    if (subject.is_unbiased || subject.function->name != options_.functions.front()) return;
    const double backward = timer_.seconds([&](cudaStream_t stream) {
      return kernels::cuda::activation_backward(subject.steps, type.type, x, room_.codes.at(),
                                                room_.y.at(), count, stream);
    });
    add(subject, type, count, "backward", backward);
  }

  void add(const GpuSubject& subject, const NamedType& type, int64_t count, const char* pass,
           double seconds) {
    const int64_t bytes =
        2 * count * element_bytes(type.type) + kernels::code_bytes(count, subject.bits);
    rows_.push_back({subject.function->name, type.name, subject.table, subject.bits, pass, count,
                     bytes, seconds, copy_seconds(bytes)});
  }

  const Options& options_;
  Timer timer_;
  Room room_;
  std::map<int64_t, double> copies_;
  std::vector<Row> rows_;
};

Setting setting_of(const Options& options) {
  cudaDeviceProp properties{};
  int driver = 0, toolkit = 0;
  check(cudaGetDeviceProperties(&properties, 0), "device");
  check(cudaDriverGetVersion(&driver), "driver");
  check(cudaRuntimeGetVersion(&toolkit), "runtime");
  const auto version = [](int number) {
    return std::to_string(number / 1000) + '.' + std::to_string(number % 1000 / 10);
  };
  const char* driver_name = std::getenv("FEWBIT_DRIVER");
  char date[16];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  return {properties.name, driver_name ? driver_name : "for CUDA " + version(driver),
          version(toolkit), options.commit, date};
}

/// The largest exponent whose arrays fit.
int fitting(int largest) {
  size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "memory");
  while (largest > 20 &&
         (int64_t{10} << largest) + (int64_t{1} << 30) > static_cast<int64_t>(free)) {
    std::fprintf(stderr, "2^%d elements left out: too little memory\n", largest--);
  }
  return largest;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string {
      if (++i == argc) throw std::runtime_error(word + " needs a value");
      return argv[i];
    };
    if (word == "--out") {
      options.out = value();
    } else if (word == "--commit") {
      options.commit = value();
    } else if (word == "--smallest") {
      options.smallest = std::stoi(value());
    } else if (word == "--largest") {
      options.largest = std::stoi(value());
    } else if (subjects_of(word).empty()) {
      throw std::runtime_error("unknown argument or function: " + word);
    } else {
      options.functions.push_back(word);
    }
  }
  if (options.functions.empty()) {
    options.functions = function_names();
    std::ranges::partition(options.functions, [](const auto& name) { return name == "gelu"; });
  }
  return options;
}

int run(int argc, char** argv) {
  Options options = parse(argc, argv);
  if (const std::string absence = device::absence(); !absence.empty()) {
    std::printf("skipped: %s\n", absence.c_str());
    return 77;
  }
  options.largest = fitting(options.largest);
  const std::vector<Row> rows = Measurement(options).run();
  const Setting setting = setting_of(options);
  const std::string markdown = markdown_text(setting, rows);
  std::fputs(markdown.c_str(), stdout);
  if (!options.out.empty()) {
    std::ofstream(options.out + "/activation.md") << markdown;
    std::ofstream(options.out + "/activation.json") << json_text(setting, rows);
  }
  return 0;
}

}  // namespace

}  // namespace fewbit::bench

int main(int argc, char** argv) {
  try {
    return fewbit::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "activation_gpu: error: %s\n", error.what());
    return 1;
  }
}
