#include "trace/subclasses.hpp"

#include <mutex>
#include <utility>

#include "trace/running_operations.hpp"

namespace fewbit {

namespace {

using InnerOf = std::function<std::optional<TensorSubclass>(const at::Tensor&)>;

class Looking {
 public:
  void set(std::shared_ptr<const InnerOf> inner_of) {
    const std::lock_guard lock(mutex_);
    inner_of_.swap(inner_of);
  }

  std::shared_ptr<const InnerOf> get() const {
    const std::lock_guard lock(mutex_);
    return inner_of_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const InnerOf> inner_of_;
};

Looking& looking() {
  static Looking* const looking = new Looking;  // Python may end before static destructors run
  return *looking;
}

}  // namespace

void look_into_subclasses(InnerOf inner_of) {
  looking().set(inner_of ? std::make_shared<const InnerOf>(std::move(inner_of)) : nullptr);
}

namespace session {

namespace {

class Wrapped final : public PackedTensor {
 public:
  Wrapped(std::unique_ptr<const PackedTensor> kept, TensorSubclass subclass)
      : kept_(std::move(kept)), wrapped_(std::move(subclass.wrapped)) {}

  at::Tensor restored() const override { return wrapped_(kept_->restored()); }
  at::TensorList tensors() const override { return kept_->tensors(); }
  const ChangingTensor* changing() const override { return kept_->changing(); }

 private:
  std::unique_ptr<const PackedTensor> kept_;
  std::function<at::Tensor(const at::Tensor&)> wrapped_;
};

}  // namespace

bool is_of_subclass(const at::Tensor& tensor) {
  return tensor.key_set().has(c10::DispatchKey::Python);
}

std::optional<TensorSubclass> looked_into(const at::Tensor& tensor) {
  const auto inner_of = looking().get();
  auto subclass = inner_of ? (*inner_of)(tensor) : std::nullopt;
  const bool is_plain = subclass && subclass->inner.defined() && !is_of_subclass(subclass->inner);
  return is_plain ? std::move(subclass) : std::nullopt;
}

SaveEvent of_inner(const SaveEvent& event, const at::Tensor& inner) {
  SaveEvent result = event;
  result.memory = memory_of(inner);
  result.facts.shape = shape_of(inner);
  result.arguments = nullptr;  // of the subclass
  return result;
}

std::unique_ptr<const PackedTensor> wrapped(std::unique_ptr<const PackedTensor> kept,
                                            TensorSubclass subclass) {
  return std::make_unique<Wrapped>(std::move(kept), std::move(subclass));
}

}  // namespace session

}  // namespace fewbit
