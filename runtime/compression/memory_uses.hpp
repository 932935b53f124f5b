#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include <ATen/core/Tensor.h>

#include "compression/operators/site_key.hpp"
#include "compression/stored_run.hpp"
#include "trace/running_operations.hpp"

namespace fewbit::session {

/// What one forward saves of each memory: the memory itself, or codes of what views of it show. Not
/// both: codes in addition to the memory would be bytes for nothing.
class MemoryUses {
 public:
  /// Whether somebody holds the memory itself, with the elements that the tensor has now.
  bool is_exact(const at::Tensor& tensor) const;

  /// Somebody is about to. What was coded of the memory is held as it is from now on, but where
  /// others are computed out of its codes; returns the sites of that.
  std::vector<SiteKey> keep_exact(const at::Tensor& tensor);
  /// Notes who does, for as long as that lives: of a version of a memory about which this was said.
  void add_holder(const void* memory, int64_t version, std::weak_ptr<const void> holder);
  /// Others are computed out of what was coded at a site.
  void need_codes(const SiteKey& site) { needed_.insert(site); }
  /// Whether what was coded there is held as it is.
  bool is_held(const SiteKey& site) const { return held_.contains(site); }

  /// Notes what is stored in the place of what a view shows, or `of_view` is computed from: it is
  /// told to hold the view where null.
  using HoldOf = std::function<void(const at::Tensor& view)>;
  void add(const at::Tensor& view, const std::shared_ptr<StandIn>& run, const SiteKey& site,
           HoldOf of_view = nullptr);
  /// Whether all codes of the view's memory take more bytes than the memory.
  bool exceeds_exact(const at::Tensor& view) const;

  /// The forward is over: runs tell nobody of changes from now on.
  void end();

 private:
  struct Coded {
    std::weak_ptr<StandIn> run;
    SiteKey site;
    HoldOf hold;
    c10::VariableVersion version;  ///< of the view, whose parts may not share one
    uint32_t at_version;
    at::ScalarType type;
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;
    int64_t offset;
  };
  struct Use {
    Memory memory;  ///< so that its address means it
    int64_t version = 0;
    std::vector<std::weak_ptr<const void>> holders = {};  ///< of the memory itself
    std::vector<Coded> coded = {};
  };

  static bool is_of(const Use& use, const at::Tensor& tensor);
  /// Null where nothing is saved of these elements.
  const Use* find(const at::Tensor& tensor) const;
  Use& use_of(const at::Tensor& tensor);

  std::unordered_map<const void*, Use> uses_;  ///< by memory
  std::vector<std::weak_ptr<StandIn>> runs_;
  std::set<SiteKey> needed_;
  std::set<SiteKey> held_;
};

}  // namespace fewbit::session
