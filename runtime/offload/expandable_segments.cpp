#include "offload/expandable_segments.hpp"

#include <ATen/Context.h>
#include <c10/util/Exception.h>

#if __has_include(<c10/core/AllocatorConfig.h>)
#include <c10/core/AllocatorConfig.h>
#endif

namespace fewbit::offload {

std::string with_expandable_segments(const std::string& settings) {
  if (settings.find("expandable_segments") != std::string::npos) return settings;
  return settings + (settings.empty() ? "" : ",") + "expandable_segments:True";
}

void ask_for_expandable_segments() {
  if (!at::hasCUDA()) return;
#if __has_include(<c10/core/AllocatorConfig.h>)
  const std::string settings = c10::CachingAllocator::getAllocatorSettings();
  const std::string wanted = with_expandable_segments(settings);
  // What they do not name they reset.
  if (wanted != settings) c10::CachingAllocator::setAllocatorSettings(wanted);
#else
  TORCH_WARN_ONCE(
      "fewbit::Compressor: this libtorch takes expandable segments by the environment alone: "
      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
#endif
}

}  // namespace fewbit::offload
