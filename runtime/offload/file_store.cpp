#include "offload/file_store.hpp"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>
#include <torch/csrc/profiler/orchestration/observer.h>

namespace fewbit::offload {

namespace {

/// Memory that others hold too.
c10::DataPtr shared(const std::shared_ptr<const c10::DataPtr>& memory) {
  using Owner = std::shared_ptr<const c10::DataPtr>;
  return {memory->get(), new Owner(memory), [](void* owner) { delete static_cast<Owner*>(owner); },
          memory->device()};
}

void let_go(std::shared_ptr<const c10::DataPtr> memory,
            const std::shared_ptr<c10::ThreadLocalDebugInfo>& reports) {
  const c10::DebugInfoGuard guard(reports);
  memory.reset();
}

}  // namespace

class FileStore::FileSlot final : public Slot {
 public:
  FileSlot(std::shared_ptr<FileStore> store, RecordPointer record)
      : store_(std::move(store)), record_(std::move(record)) {}
  FileSlot(const FileSlot&) = delete;
  FileSlot& operator=(const FileSlot&) = delete;
  ~FileSlot() override { store_->drop(record_); }

  void fetch() override { store_->fetch(record_); }
  void forget() override { store_->forget(record_); }
  c10::DataPtr take() override { return store_->take(record_); }

 private:
  std::shared_ptr<FileStore> store_;
  RecordPointer record_;
};

FileStore::FileStore(std::string folder, size_t most_unwritten)
    : folder_(std::move(folder)),
      most_unwritten_(most_unwritten),
      file_(folder_),
      thread_([this] { work(); }) {}

/// No slot is left, and so nothing to do.
FileStore::~FileStore() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool FileStore::takes() {
  const Lock lock(mutex_);
  report_failure();
  return !has_failed_;
}

std::unique_ptr<Slot> FileStore::put(c10::DataPtr memory, size_t bytes) {
  auto record = std::make_shared<Record>();
  record->bytes = bytes;
  record->memory = std::make_shared<const c10::DataPtr>(std::move(memory));
  // A profiler may read what it collected while our thread is at work.
  if (!torch::profiler::impl::profilerEnabled()) {
    record->reports = c10::ThreadLocalDebugInfo::current();
  }
  Lock lock(mutex_);
  largest_ = std::max(largest_, bytes);
  const size_t most = std::min(most_unwritten_, 2 * largest_);
  changed_.wait(lock,
                [&] { return failure_ != 0 || unwritten_ == 0 || unwritten_ + bytes <= most; });
  report_failure();
  writes_.push_back(record);
  record->offset = space_.take(static_cast<int64_t>(bytes));
  unwritten_ += bytes;
  lock.unlock();
  changed_.notify_all();
  return std::make_unique<FileSlot>(shared_from_this(), std::move(record));
}

void FileStore::settle() {
  Lock lock(mutex_);
  changed_.wait(lock, [&] { return unwritten_ == 0; });
}

int64_t FileStore::used_bytes() const {
  const std::lock_guard lock(mutex_);
  return space_.taken();
}

void FileStore::fetch(const RecordPointer& record) {
  {
    const std::lock_guard lock(mutex_);
    if (record->memory || record->is_wanted) return;
    record->is_wanted = true;
    if (record->is_busy) return;  // being read, and forgotten meanwhile
    reads_.push_back(record);
  }
  changed_.notify_all();
}

void FileStore::forget(const RecordPointer& record) {
  Memory forgotten;
  const std::lock_guard lock(mutex_);
  record->is_wanted = false;
  std::erase(reads_, record);
  if (record->is_written) forgotten = std::move(record->memory);
}

c10::DataPtr FileStore::take(const RecordPointer& record) {
  Lock lock(mutex_);
  report_failure();
  std::erase(reads_, record);
  // What is being written is at hand; what is being read soon will be.
  changed_.wait(lock, [&] { return record->memory || !record->is_busy; });
  record->is_wanted = false;
  const Memory memory = record->is_written ? std::move(record->memory) : record->memory;
  lock.unlock();
  return shared(memory ? memory : read(*record));
}

void FileStore::drop(const RecordPointer& record) noexcept {
  {
    const std::lock_guard lock(mutex_);
    std::erase(reads_, record);
    if (std::erase(writes_, record) > 0) unwritten_ -= record->bytes;
    record->is_dropped = true;
    if (!record->is_busy) space_.give_back(record->offset, static_cast<int64_t>(record->bytes));
  }
  changed_.notify_all();
}

FileStore::Memory FileStore::read(const Record& record) const {
  c10::DataPtr memory = c10::GetCPUAllocator()->allocate(record.bytes);
  const int error = file_.read(record.offset, memory.get(), record.bytes);
  TORCH_CHECK(error == 0, "fewbit: what left memory cannot be read from its file in ", folder_,
              ": ", std::generic_category().message(error));
  return std::make_shared<const c10::DataPtr>(std::move(memory));
}

void FileStore::report_failure() {
  const int error = std::exchange(failure_, 0);
  TORCH_CHECK(error == 0, "fewbit: what is to leave memory cannot be written to a file in ",
              folder_, ": ", std::generic_category().message(error),
              "; it is still there (TMPDIR names another folder)");
}

void FileStore::work() {
  Lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return is_over_ || !reads_.empty() || !writes_.empty(); });
    if (!reads_.empty()) {
      read_next(lock);
    } else if (!writes_.empty()) {
      write_next(lock);
    } else {
      return;
    }
  }
}

void FileStore::write_next(Lock& lock) {
  const RecordPointer record = std::move(writes_.front());
  writes_.pop_front();
  record->is_busy = true;
  Memory memory = record->memory;
  lock.unlock();
  const int error = file_.write(record->offset, memory->get(), record->bytes);
  lock.lock();
  record->is_written = error == 0;
  if (error != 0 && !record->is_dropped && !std::exchange(has_failed_, true)) failure_ = error;
  if (record->is_written) record->memory.reset();
  end_work(*record);
  lock.unlock();
  let_go(std::move(memory), record->reports);
  lock.lock();
  unwritten_ -= record->bytes;  // it counts until it is given back
  changed_.notify_all();
}

void FileStore::read_next(Lock& lock) {
  const RecordPointer record = std::move(reads_.front());
  reads_.pop_front();
  record->is_busy = true;
  lock.unlock();
  Memory memory;
  try {
    const c10::DebugInfoGuard reports(record->reports);
    memory = read(*record);
  } catch (const std::exception&) {  // whoever takes it will have the same, and be told
  }
  lock.lock();
  if (record->is_wanted) record->memory = memory;
  record->is_wanted = false;
  end_work(*record);
  lock.unlock();
  let_go(std::move(memory), record->reports);
  lock.lock();
}

void FileStore::end_work(Record& record) {
  record.is_busy = false;
  if (record.is_dropped) space_.give_back(record.offset, static_cast<int64_t>(record.bytes));
  changed_.notify_all();
}

}  // namespace fewbit::offload
