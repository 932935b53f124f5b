#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "kernels/element_type.hpp"

/// The arguments of a pass over 2^20 elements, as launchers pass them.
namespace fewbit::counts {

inline constexpr int64_t kCount = int64_t{1} << 20;
inline constexpr kernels::ElementType kTypes[] = {
    kernels::ElementType::f32, kernels::ElementType::bf16, kernels::ElementType::f16,
    kernels::ElementType::f64};
inline constexpr const char* kTypeNames[] = {"f32", "bf16", "f16", "f64"};

/// What kernel arguments look like in memory: one after the other, each at a multiple of eight.
class Bytes {
 public:
  template <class T>
  Bytes& operator<<(const T& argument) {
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    bytes_.resize(bytes_.size() + sizeof(T));
    std::memcpy(bytes_.data() + bytes_.size() - sizeof(T), &argument, sizeof(T));
    return *this;
  }

  std::string hex() const {
    std::string text;
    for (const unsigned char byte : bytes_) {
      text += "0123456789abcdef"[byte / 16];
      text += "0123456789abcdef"[byte % 16];
    }
    return text;
  }

 private:
  std::vector<unsigned char> bytes_;
};

/// An address that 16 divides; nothing reads it.
template <class T>
T* address(uintptr_t number) {
  return reinterpret_cast<T*>(number << 32);
}

/// A row for each pass of the quantizers that is counted.
nlohmann::ordered_json quantizer_passes();

}  // namespace fewbit::counts
