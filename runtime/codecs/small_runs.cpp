#include "codecs/small_runs.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <c10/core/Event.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "codecs/common.hpp"
#include "ops/graph_capture.hpp"

namespace fewbit::codecs {

namespace {

constexpr size_t kMostRuns = 32;  // that a launch takes

/// A view holds all of its memory as long as it waits: not much more than it shows.
constexpr size_t kManyTimes = 4;

c10::Stream current_stream(c10::Device device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

/// What runs in it is neither autograd's nor for modes of Python's to hear of.
class Quietly {
  const at::NoGradGuard no_grad_;
  const c10::impl::ExcludeDispatchKeyGuard no_modes_{
      c10::DispatchKeySet({c10::DispatchKey::Python, c10::DispatchKey::PythonTLSSnapshot})};
};

}  // namespace

/// What tensors have in common that one launch codes.
struct BundleKind {
  BundleKind(const RotatedCodes& of_form, const at::Tensor& x, const at::Tensor& by_seed)
      : form(of_form), type(x.scalar_type()), stream(current_stream(x.device())), seed(by_seed) {}

  bool is(const BundleKind& other) const {
    return form.bits == other.form.bits && form.group == other.form.group && type == other.type &&
           stream == other.stream && seed.is_same(other.seed);
  }

  const RotatedCodes form;
  const at::ScalarType type;
  const c10::Stream stream;
  const at::Tensor seed;
  std::mutex mutex;                      ///< of all bundles of the kind
  std::weak_ptr<Bundle> latest_decoded;  ///< the only one that may keep what nobody asked for
};

/// What one launch codes, and another one decodes. Thread-safe.
class Bundle : public std::enable_shared_from_this<Bundle> {
 public:
  explicit Bundle(std::shared_ptr<BundleKind> kind) : kind_(std::move(kind)) {}

  /// Its place; none where all are coded. `codes` and `constants` are written with theirs.
  std::optional<size_t> add(const at::Tensor& x, int64_t offset, const at::Tensor& codes,
                            const at::Tensor& constants) {
    const std::lock_guard lock(kind_->mutex);
    if (is_coded_) return std::nullopt;
    // Shares the version of what is saved, and nothing of Python's.
    const at::Tensor waits = x.tensor_data();
    members_.push_back({waits, waits._version(), x.numel(), offset, codes, constants});
    elements_ += x.numel();
    return members_.size() - 1;
  }

  bool is_full() const {
    const std::lock_guard lock(kind_->mutex);
    return members_.size() >= kMostRuns || elements_ >= SmallRuns::kMostTogether;
  }

  bool holds_memory_of(const at::Tensor& x) const {
    const std::lock_guard lock(kind_->mutex);
    return std::ranges::any_of(members_, [&](const Member& member) {
      return member.x.defined() && member.x.is_alias_of(x);
    });
  }

  void code() {
    std::vector<at::Tensor> coded;  // freed without the lock
    const std::lock_guard lock(kind_->mutex);
    code_locked(coded);
  }

  at::Tensor decoded(size_t place) {
    std::vector<at::Tensor> coded;
    const std::lock_guard lock(kind_->mutex);
    code_locked(coded);
    Member& own = members_[place];
    TORCH_CHECK(!own.has_changed,
                "one of the variables needed for gradient computation has been modified by an "
                "inplace operation: a tensor of ",
                own.count, " elements, which waited to be coded with others");
    const bool is_first = !std::exchange(own.is_asked, true);
    const c10::Stream stream = current_stream(kind_->stream.device());
    if (stream != kind_->stream) wait_for_codes(stream);
    const bool is_alone = stream != kind_->stream || ops::is_captured(stream.device()) ||
                          c10::InferenceMode::is_enabled();
    if (is_alone || (!own.decoded.defined() && !is_first)) return decoded({&own})[0];
    if (!own.decoded.defined()) decode_all(own);
    return std::exchange(own.decoded, {});
  }

  void drop(size_t place) {
    Member dropped;  // freed without the lock
    const std::lock_guard lock(kind_->mutex);
    std::swap(dropped, members_[place]);
  }

 private:
  struct Member {
    at::Tensor x;  ///< while it waits
    int64_t version = 0;
    int64_t count = 0;
    int64_t offset = 0;
    at::Tensor codes = {}, constants = {};  ///< undefined: nobody holds it any more
    bool has_changed = false;               ///< before it was coded
    bool is_asked = false;                  ///< to be decoded
    at::Tensor decoded = {};                ///< with others

    bool is_to_be_asked() const { return codes.defined() && !has_changed && !is_asked; }
    /// Whether x is there as it was.
    bool is_unchanged() const {
      const auto end = static_cast<size_t>(x.storage_offset() + x.numel()) * x.itemsize();
      return x.storage().nbytes() >= end && x._version() == version;
    }
  };

  void code_locked(std::vector<at::Tensor>& coded) {
    if (is_coded_) return;
    const Quietly quietly;
    const c10::StreamGuard guard(kind_->stream);
    std::vector<at::Tensor> codes, constants;
    std::vector<int64_t> offsets;
    for (Member& member : members_) {
      if (!member.codes.defined()) continue;
      member.has_changed = !member.is_unchanged();
      if (member.has_changed) continue;
      coded.push_back(member.x);
      codes.push_back(member.codes);
      constants.push_back(member.constants);
      offsets.push_back(member.offset);
    }
    if (!coded.empty()) {
      TORCH_CHECK(!ops::is_captured(kind_->stream.device()),
                  "CompressionScope: small tensors that were saved before ", kind_->stream.device(),
                  " was captured into a graph would be coded in it; accepted: a scope that ends "
                  "before the capture begins");
      ops::rotated_encode_together(coded, kind_->form, kind_->seed, offsets, codes, constants);
    }
    is_coded_ = true;
    for (Member& member : members_) member.x.reset();
    // Who made them on another stream may have waited for this one before.
    const c10::impl::VirtualGuardImpl device(kind_->stream.device_type());
    for (const at::Tensor& x : coded) {
      device.recordDataPtrOnStream(x.storage().data_ptr(), kind_->stream);
    }
  }

  /// They may have been made after whoever decodes waited for that stream.
  void wait_for_codes(const c10::Stream& reader) const {
    c10::Event coded(kind_->stream.device_type());
    coded.record(kind_->stream);
    coded.block(reader);
  }

  std::vector<at::Tensor> decoded(const std::vector<Member*>& members) const {
    std::vector<at::Tensor> codes, constants;
    std::vector<int64_t> counts, offsets;
    for (const Member* member : members) {
      codes.push_back(member->codes);
      constants.push_back(member->constants);
      counts.push_back(member->count);
      offsets.push_back(member->offset);
    }
    return ops::rotated_decode_together(codes, constants, counts, kind_->form, kind_->type,
                                        kind_->seed, offsets);
  }

  /// The one that is asked now, and those that were not yet.
  void decode_all(Member& asked) {
    if (const auto latest = kind_->latest_decoded.lock(); latest && latest.get() != this) {
      for (Member& member : latest->members_) member.decoded.reset();
    }
    kind_->latest_decoded = weak_from_this();
    std::vector<Member*> members = {&asked};
    for (Member& member : members_) {
      if (member.is_to_be_asked()) members.push_back(&member);
    }
    const std::vector<at::Tensor> all = decoded(members);
    for (size_t i = 0; i < members.size(); ++i) members[i]->decoded = all[i];
  }

  const std::shared_ptr<BundleKind> kind_;
  std::vector<Member> members_;
  int64_t elements_ = 0;
  bool is_coded_ = false;
};

namespace {

class SmallRun final : public Encoded {
 public:
  SmallRun(std::shared_ptr<Bundle> bundle, size_t place, std::array<at::Tensor, 3> parts)
      : bundle_(std::move(bundle)), place_(place), parts_(std::move(parts)) {}
  ~SmallRun() override { bundle_->drop(place_); }
  SmallRun(const SmallRun&) = delete;
  SmallRun& operator=(const SmallRun&) = delete;

  at::Tensor decoded() const override { return bundle_->decoded(place_); }
  at::TensorList tensors() const override { return parts_; }

 private:
  std::shared_ptr<Bundle> bundle_;
  size_t place_;
  std::array<at::Tensor, 3> parts_;  // codes, constants, seed
};

}  // namespace

bool SmallRuns::takes(const at::Tensor& x, const RotatedCodes& form) {
  return form.states == 0 && x.numel() <= kMostElements && !x.is_cpu() && !x.is_meta() &&
         !x.is_inference() && x.storage().nbytes() <= kManyTimes * x.nbytes() &&
         !ops::is_captured(x.device());
}

std::shared_ptr<const Encoded> SmallRuns::encode(const RotatedCodes& form, const at::Tensor& x,
                                                 const RandomStream& random) {
  const BundleKind kind(form, x, random.seed);
  auto own = std::ranges::find_if(kinds_, [&](const Open& open) { return open.kind->is(kind); });
  if (own == kinds_.end()) {
    const auto shared = std::make_shared<BundleKind>(form, x, random.seed);
    own = kinds_.insert(kinds_.end(), {shared, std::make_shared<Bundle>(shared)});
  }
  const auto [codes, constants] = ops::empty_rotated_of(x, form);
  std::optional<size_t> place = own->bundle->add(x, random.offset, codes, constants);
  if (!place) {  // it was decoded meanwhile
    own->bundle = std::make_shared<Bundle>(own->kind);
    place = own->bundle->add(x, random.offset, codes, constants);
  }
  auto run = std::make_shared<SmallRun>(own->bundle, place.value(),
                                        std::array{codes, constants, random.seed});
  if (own->bundle->is_full()) own->bundle->code();
  return run;
}

bool SmallRuns::holds_memory_of(const at::Tensor& x) const {
  return x.defined() && x.has_storage() && std::ranges::any_of(kinds_, [&](const Open& open) {
           return open.bundle->holds_memory_of(x);
         });
}

void SmallRuns::settle() {
  for (const Open& open : std::exchange(kinds_, {})) open.bundle->code();
}

}  // namespace fewbit::codecs
