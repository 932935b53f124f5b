// The launchers for bench/gpu/torch_ratio.py, which calls them by ctypes beside torch's own
// functions.
#include "bench/gpu/subjects.hpp"

extern "C" {

using fewbit::bench::GpuSubject;

int fewbit_forward(const char* function, int bits, int type, const void* x, void* y,
                   unsigned char* codes, long long count, void* stream);
int fewbit_backward(const char* function, int bits, int type, const void* dy,
                    const unsigned char* codes, void* dx, long long count, void* stream);
}

namespace {

/// The default table; null where there is none.
const GpuSubject* find(const char* function, int bits) {
  static thread_local GpuSubject found;
  for (const GpuSubject& subject : fewbit::bench::subjects_of(function)) {
    if (subject.bits != bits || subject.is_unbiased) continue;
    found = subject;
    return &found;
  }
  return nullptr;
}

}  // namespace

/// `type` counts as ElementType does. Returns a cudaError_t.
int fewbit_forward(const char* function, int bits, int type, const void* x, void* y,
                   unsigned char* codes, long long count, void* stream) {
  const GpuSubject* subject = find(function, bits);
  if (subject == nullptr) return cudaErrorInvalidValue;
  return fewbit::kernels::cuda::activation_forward(
      *subject->function, nullptr, subject->steps, static_cast<fewbit::kernels::ElementType>(type),
      x, y, codes, count, static_cast<cudaStream_t>(stream));
}

int fewbit_backward(const char* function, int bits, int type, const void* dy,
                    const unsigned char* codes, void* dx, long long count, void* stream) {
  const GpuSubject* subject = find(function, bits);
  if (subject == nullptr) return cudaErrorInvalidValue;
  return fewbit::kernels::cuda::activation_backward(
      subject->steps, static_cast<fewbit::kernels::ElementType>(type), dy, codes, dx, count,
      static_cast<cudaStream_t>(stream));
}
