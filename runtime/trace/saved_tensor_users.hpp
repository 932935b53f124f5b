#pragma once

#include <exception>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace fewbit::session {

class SavedTensorUser;

/// The users of the tensors that one thread saves. Thread-safe: a scope may end in another thread
/// than the one that opened it.
class UserStack {
 public:
  using Users = std::vector<std::shared_ptr<SavedTensorUser>>;

  static const std::shared_ptr<UserStack>& of_this_thread();
  /// Whether it is the calling thread's, which is not about to end.
  bool is_of_this_thread() const noexcept;

  void open(std::shared_ptr<SavedTensorUser> user);
  /// Removes the latest use of that user.
  void close(const std::shared_ptr<SavedTensorUser>& user) noexcept;
  bool is_empty() const;
  /// Whether one of them is to hear of calls of the operation.
  bool any_holds(std::string_view operation) const;
  /// Oldest first. One that is open twice stands there twice.
  Users all() const;
  /// In the order of opening, each once.
  Users each() const;

  /// Keeps an exception that cannot be thrown where it arises, such as inside of a callback of
  /// libtorch's, for rethrow_failure(). The first one counts.
  void keep_failure(std::exception_ptr failure) noexcept;
  /// Throws what was kept, once; does nothing where nothing was.
  void rethrow_failure();

 private:
  mutable std::mutex mutex_;
  Users open_;
  std::exception_ptr failure_;
};

}  // namespace fewbit::session
