#include "trace/saved_tensors.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/SavedTensorHooks.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>

#include "text/names.hpp"
#include "trace/engine_place.hpp"
#include "trace/python_state.hpp"
#include "trace/subclasses.hpp"

namespace fewbit::session {

// The users of the tensors that one thread saves. Thread-safe: a scope may end in another thread
// than the one that opened it.
class UserStack {
 public:
  using Users = c10::SmallVector<std::shared_ptr<SavedTensorUser>, 3>;

  static const std::shared_ptr<UserStack>& of_this_thread();
  // Whether it is the calling thread's, which is not about to end.
  bool is_of_this_thread() const noexcept;

  void open(std::shared_ptr<SavedTensorUser> user);
  // Removes the latest use of that user.
  void close(const std::shared_ptr<SavedTensorUser>& user) noexcept;
  bool is_empty() const { return count_ == 0; }
  bool any_hears_of_nodes() const { return hears_of_nodes_ > 0; }
  // Whether it is theirs what this thread saves: they are there, and Python opened no hooks of its
  // own since the latest of them came.
  bool are_innermost() const;
  // Whether one of them is to hear of calls of the operation.
  bool any_holds(std::string_view operation) const;
  // Oldest first. One that is open twice stands there twice.
  Users all() const;

  // Holds an exception that cannot be thrown where it arises, such as inside of a callback of
  // libtorch's, for rethrow_failure(). The first one counts.
  void keep_failure(std::exception_ptr failure) noexcept;
  // Throws what was held, once; does nothing where nothing was.
  void rethrow_failure();

 private:
  // With the lock held.
  void count_up() noexcept;

  mutable std::mutex mutex_;
  Users open_;
  std::vector<std::size_t> python_hooks_;  // that were open when each of them came
  // Asked for with every call: without the lock.
  std::atomic<std::size_t> count_ = 0, hears_of_nodes_ = 0;
  std::atomic<bool> has_failed_ = false;
  std::exception_ptr failure_;
};

namespace {

// Without a destructor of its own, so that uses that end after it (static ones) may still ask.
thread_local UserStack* stack_of_thread = nullptr;

struct Owner {
  std::shared_ptr<UserStack> stack = std::make_shared<UserStack>();
  Owner() { stack_of_thread = stack.get(); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() { stack_of_thread = nullptr; }
};

}  // namespace

const std::shared_ptr<UserStack>& UserStack::of_this_thread() {
  static thread_local const Owner owner;
  return owner.stack;
}

bool UserStack::is_of_this_thread() const noexcept {
  return stack_of_thread == this;
}

void UserStack::open(std::shared_ptr<SavedTensorUser> user) {
  const std::lock_guard lock(mutex_);
  open_.push_back(std::move(user));
  python_hooks_.push_back(open_python_hooks());
  count_up();
}

void UserStack::close(const std::shared_ptr<SavedTensorUser>& user) noexcept {
  const std::lock_guard lock(mutex_);
  const auto last = std::find(open_.rbegin(), open_.rend(), user);
  if (last == open_.rend()) return;
  const auto place = std::next(last).base();
  python_hooks_.erase(python_hooks_.begin() + (place - open_.begin()));
  open_.erase(place);
  count_up();
}

void UserStack::count_up() noexcept {
  count_ = open_.size();
  hears_of_nodes_ = static_cast<std::size_t>(
      std::ranges::count_if(open_, [](const auto& user) { return user->hears_of_nodes(); }));
}

bool UserStack::are_innermost() const {
  const std::lock_guard lock(mutex_);
  return !open_.empty() && open_python_hooks() <= python_hooks_.back();
}

bool UserStack::any_holds(std::string_view operation) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(open_, [&](const auto& user) { return user->holds(operation); });
}

UserStack::Users UserStack::all() const {
  const std::lock_guard lock(mutex_);
  return open_;
}

void UserStack::keep_failure(std::exception_ptr failure) noexcept {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(failure);
  has_failed_ = true;
}

void UserStack::rethrow_failure() {
  if (!has_failed_) return;
  std::unique_lock lock(mutex_);
  const std::exception_ptr failure = std::exchange(failure_, nullptr);
  has_failed_ = false;
  lock.unlock();
  if (failure) std::rethrow_exception(failure);
}

namespace {

using torch::autograd::SavedVariableHooks;

using Users = UserStack::Users;

// In the order of opening, each once.
Users each_of(Users all) {
  auto end = all.begin();
  for (auto user = all.begin(); user != all.end(); ++user) {
    if (std::find(all.begin(), end, *user) == end) std::iter_swap(end++, user);
  }
  all.erase(end, all.end());
  return all;
}

UserStack& users() {
  return stack_of_thread != nullptr ? *stack_of_thread : *UserStack::of_this_thread();
}

// While users are asked or told: what they run themselves is nobody's to hear of, modes of Python's
// among them (TorchDispatchMode).
class Asking {
 public:
  Asking() : was_asking_(std::exchange(is_asking(), true)) {}
  ~Asking() { is_asking() = was_asking_; }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  static bool& is_asking() {
    static thread_local bool is_asking = false;
    return is_asking;
  }

 private:
  const at::NoGradGuard no_grad_;
  const c10::impl::ExcludeDispatchKeyGuard no_modes_{
      c10::DispatchKeySet({c10::DispatchKey::Python, c10::DispatchKey::PythonTLSSnapshot})};
  bool was_asking_;
};

// Of all users.
class Listener final : public OperationListener {
 public:
  bool listens() const override { return !users().is_empty(); }
  bool hears_of_nodes() const override { return users().any_hears_of_nodes(); }
  void name_node(NodeKey node, const std::string& name) override {
    for (const auto& user : each_of(users().all())) user->name_node(node, name);
  }
  std::shared_ptr<const CallNote> note(std::string_view operation,
                                       c10::ArrayRef<const c10::IValue> arguments) override {
    try {
      for (const auto& user : each_of(users().all())) {
        if (auto note = user->note(operation, arguments)) return note;
      }
    } catch (...) {
      users().keep_failure(std::current_exception());
    }
    return nullptr;
  }
  bool holds(std::string_view operation) const override {
    return !Asking::is_asking() && users().any_holds(operation);
  }
  void start_call(const RecordedCall& call) override {
    for_each_holder(call, [&](SavedTensorUser& user) { user.start_call(call); });
  }
  void end_call(const RecordedCall& call) override {
    for_each_holder(call, [&](SavedTensorUser& user) { user.end_call(call); });
  }
  void keep_failure(std::exception_ptr failure) noexcept override {
    users().keep_failure(std::move(failure));
  }

 private:
  // libtorch swallows what a callback throws.
  template <class Visit>
  static void for_each_holder(const RecordedCall& call, const Visit& visit) noexcept {
    try {
      const Asking asking;
      for (const auto& user : users().all()) {
        if (user->holds(call.operation)) visit(*user);
      }
    } catch (...) {
      users().keep_failure(std::current_exception());
    }
  }
};

Listener& listener() {
  static Listener listener;
  return listener;
}

// The tensor itself.
class Unchanged final : public PackedTensor {
 public:
  // An operation that holds its own output would hold itself: without the graph, as autograd does.
  explicit Unchanged(const at::Tensor& tensor)
      : tensor_(tensor.is_leaf() ? tensor : at::Tensor(tensor.tensor_data())),
        version_(tensor._version()) {}

  at::Tensor restored() const override {
    TORCH_CHECK(tensor_._version() == version_,
                "one of the variables needed for gradient computation has been modified by an "
                "inplace operation: ",
                tensor_.toString(), " ", shape_text(shape_of(tensor_)), " is at version ",
                tensor_._version(), "; expected version ", version_,
                " (saved where fewbit follows saved tensors)");
    return tensor_;
  }

  at::TensorList tensors() const override { return tensor_; }

 private:
  at::Tensor tensor_;
  std::int64_t version_;
};

// One part of what replaces a tensor, saved by the same call.
SaveEvent part_of(const SaveEvent& whole, const at::Tensor& part) {
  SaveEvent event = whole;
  event.memory = memory_of(part);
  event.maker = event.node;
  event.facts.maker = event.facts.operation;
  event.facts.shape = shape_of(part);
  event.facts.dtype = part.scalar_type();
  event.facts.device = part.device();
  event.facts.parameter = false;
  event.facts.is_output = false;
  return event;
}

// The arguments end with the operation.
SaveEvent outliving(SaveEvent event) {
  event.arguments = nullptr;
  return event;
}

using Keepings = c10::SmallVector<Keeping, 1>;

void tell_of(const SaveEvent& kept, const Users& users, Keepings& keepings) {
  for (const auto& user : users) {
    if (auto keeping = user->keep(kept)) keepings.push_back(std::move(keeping));
  }
}

// What stands in the place of a saved tensor, and who was told of it.
class Replaced {
 public:
  explicit Replaced(std::unique_ptr<const PackedTensor> kept) : kept_(std::move(kept)) {}

  const PackedTensor& kept() const { return *kept_; }

  // In the place of what users were told before.
  void tell(const SaveEvent& event, const Users& users) {
    Keepings keepings;
    exchange(keepings);
    keepings.clear();
    for (const at::Tensor& part : kept_->tensors()) {
      tell_of(part_of(event, part), users, keepings);
    }
    exchange(keepings);
  }

 private:
  void exchange(Keepings& keepings) {
    const std::lock_guard lock(mutex_);
    keepings_.swap(keepings);
  }

  const std::unique_ptr<const PackedTensor> kept_;
  std::mutex mutex_;
  Keepings keepings_;
};

class Hooks final : public SavedVariableHooks {
 public:
  void call_pack_hook(const at::Tensor& tensor) override {
    users().rethrow_failure();
    const SaveEvent event = describe_save(tensor);
    const Users all = users().all();
    if (auto kept = replacement(tensor, event, all)) {
      replaced_ = std::make_shared<Replaced>(std::move(kept));
      tell_of_parts(event, each_of(all));
    } else {
      unchanged_.emplace(tensor);
      tell_of(event, each_of(all), keepings_);
    }
  }

  at::Tensor call_unpack_hook() override {
    return replaced_ ? replaced_->kept().restored() : unchanged_.value().restored();
  }

 private:
  static std::unique_ptr<const PackedTensor> replacement(const at::Tensor& tensor,
                                                         const SaveEvent& event, const Users& all) {
    if (tensor.is_meta()) return nullptr;
    if (!is_of_subclass(tensor)) return replacement_of_plain(tensor, event, all);
    auto subclass = looked_into(tensor);
    if (!subclass) return nullptr;
    auto kept = replacement_of_plain(subclass->inner, of_inner(event, subclass->inner), all);
    return kept ? wrapped(std::move(kept), *std::move(subclass)) : nullptr;
  }

  static std::unique_ptr<const PackedTensor> replacement_of_plain(const at::Tensor& tensor,
                                                                  const SaveEvent& event,
                                                                  const Users& all) {
    const Asking asking;
    std::unique_ptr<const PackedTensor> kept;
    for (const bool first : {true, false}) {
      for (auto user = all.rbegin(); user != all.rend(); ++user) {
        if ((*user)->comes_first() != first) continue;
        if (kept) {
          (*user)->pass_over();
        } else {
          kept = (*user)->replace(tensor, event);
        }
      }
    }
    return kept;
  }

  void tell_of_parts(const SaveEvent& event, Users told) const {
    const auto is_other = [](const auto& user) { return !user->hears_of_parts(); };
    told.erase(std::remove_if(told.begin(), told.end(), is_other), told.end());
    if (told.empty()) return;
    if (is_settled(replaced_->kept())) replaced_->tell(event, told);
    // The graph may be freed in another thread meanwhile.
    when_changed(replaced_->kept(),
                 [replaced = std::weak_ptr(replaced_), event = outliving(event), told] {
                   if (const auto alive = replaced.lock()) alive->tell(event, told);
                 });
  }

  std::shared_ptr<Replaced> replaced_;  // else
  std::optional<Unchanged> unchanged_;  // with those who count it
  Keepings keepings_;
};

std::unique_ptr<SavedVariableHooks> hooks_of_this_thread() {
  if (is_traced() || !users().are_innermost()) return nullptr;
  return std::make_unique<Hooks>();
}

}  // namespace

bool is_settled(const PackedTensor& kept) {
  const ChangingTensor* const changing = kept.changing();
  return changing == nullptr || changing->is_settled();
}

void when_changed(const PackedTensor& kept, const std::function<void()>& tell) {
  const ChangingTensor* const changing = kept.changing();
  if (changing != nullptr) changing->when_changed(tell);
}

std::unique_ptr<const PackedTensor> kept_unchanged(const at::Tensor& tensor) {
  return std::make_unique<Unchanged>(tensor);
}

SavedTensorUse::SavedTensorUse(const char* who, std::shared_ptr<SavedTensorUser> user)
    : stack_(UserStack::of_this_thread()), user_(std::move(user)) {
  stack_->rethrow_failure();
  TORCH_CHECK(at::SavedTensorDefaultHooks::is_enabled(), who,
              ": hooks on saved tensors are disabled here, and it works by them: ",
              at::SavedTensorDefaultHooks::get_disabled_error_message().value_or(""));
  take_engine_place(who, &hooks_of_this_thread);
  start_following_operations(listener());
  stack_->open(user_);
}

SavedTensorUse::~SavedTensorUse() {
  stack_->close(user_);
  // A thread that was left so by another one stops by itself.
  if (stack_->is_of_this_thread() && stack_->is_empty()) stop_following_operations();
  leave_engine_place();
}

}  // namespace fewbit::session
