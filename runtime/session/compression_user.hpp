#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "session/compression.hpp"
#include "session/saved_tensors.hpp"

namespace fewbit::session {

/// Codes what is saved in one forward, while its scope is open.
class CompressionUser final : public SavedTensorUser {
 public:
  explicit CompressionUser(std::shared_ptr<Compression> compression)
      : compression_(std::move(compression)) {}

  std::unique_ptr<const Kept> replace(const at::Tensor& tensor, const Saving& saving) override;
  std::unique_ptr<Keeping> keep(const Saving& /*saving*/) override { return nullptr; }

 private:
  /// The memory that a run of elements was coded from, as it was.
  struct RunKey {
    const void* memory;
    int64_t version;
    int64_t offset;
    at::ScalarType type;
    int64_t count;
    Way way;                     ///< what serves one purpose need not serve another
    std::vector<int64_t> sizes;  ///< where the run is not all of the memory between its ends
    std::vector<int64_t> strides;
    auto operator<=>(const RunKey&) const = default;
  };
  struct Run {
    /// So that the address means this memory.
    Memory::Owner memory = Memory::Owner::reclaim(nullptr);
    std::weak_ptr<const codecs::Encoded> encoded;
    Compression::SiteKey site;
    uint64_t sample = 0;  ///< of the contents
  };

  static RunKey key_of(const at::Tensor& view, const Saving& saving, const Treatment& treatment,
                       int64_t version);
  Compression::SiteKey next_site(const Saving& saving);
  std::shared_ptr<const codecs::Encoded> encode(const at::Tensor& run, const Saving& saving,
                                                const Treatment& treatment,
                                                const Compression::SiteKey& site);
  codecs::RandomStream next_random(at::Device device);

  std::shared_ptr<Compression> compression_;
  std::map<RunKey, Run> runs_;
  std::map<std::pair<std::string, int>, int64_t> calls_;  ///< by operation and argument
  std::map<std::string, at::Tensor> seeds_;               ///< by device
  int64_t coded_ = 0;
};

}  // namespace fewbit::session
