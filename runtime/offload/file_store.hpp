#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <c10/util/ThreadLocalDebugInfo.h>

#include "offload/file_space.hpp"
#include "offload/store.hpp"
#include "offload/temporary_file.hpp"

namespace fewbit::offload {

/// The CPU's memory in a file: one thread writes what is put, and reads ahead what is fetched. What
/// cannot be written stays in memory. The first such failure is reported once, by the next call of
/// takes, put or take; from then on the store takes nothing more.
class FileStore final : public Store, public std::enable_shared_from_this<FileStore> {
 public:
  /// Of which no more waits in memory to be written, and no more than two of the largest slot's, or
  /// one slot's.
  static constexpr size_t kMostUnwritten = size_t{64} << 20;

  /// Throws c10::Error naming the folder.
  explicit FileStore(std::string folder, size_t most_unwritten = kMostUnwritten);
  ~FileStore() override;
  FileStore(const FileStore&) = delete;
  FileStore& operator=(const FileStore&) = delete;

  bool takes() override;
  std::unique_ptr<Slot> put(c10::DataPtr memory, size_t bytes) override;

  /// Waits until all is written that can be.
  void settle();
  /// Of the file, as large as it has ever been.
  int64_t file_bytes() const { return file_.size(); }
  /// Of the file, as slots hold them.
  int64_t used_bytes() const;

 private:
  class FileSlot;
  using Memory = std::shared_ptr<const c10::DataPtr>;
  using DebugInfo = std::shared_ptr<c10::ThreadLocalDebugInfo>;
  struct Record {
    int64_t offset = 0;
    size_t bytes = 0;
    DebugInfo reports;  ///< to whom our thread reports this memory, as the one that put it does
    Memory memory;      ///< of what is not written, or was read ahead
    bool is_written = false;
    bool is_busy = false;     ///< the thread is at it
    bool is_wanted = false;   ///< ahead
    bool is_dropped = false;  ///< by its slot, while the thread was at it
  };
  using RecordPointer = std::shared_ptr<Record>;
  using Lock = std::unique_lock<std::mutex>;

  void fetch(const RecordPointer& record);
  void forget(const RecordPointer& record);
  c10::DataPtr take(const RecordPointer& record);
  void drop(const RecordPointer& record) noexcept;

  void work();
  void write_next(Lock& lock);
  void read_next(Lock& lock);
  void end_work(Record& record);
  void report_failure();
  Memory read(const Record& record) const;

  const std::string folder_;
  const size_t most_unwritten_;
  TemporaryFile file_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  FileSpace space_;
  std::deque<RecordPointer> writes_, reads_;
  size_t unwritten_ = 0;  ///< bytes
  size_t largest_ = 0;    ///< bytes of one slot
  int failure_ = 0;       ///< errno of a write, until it is reported
  bool has_failed_ = false;
  bool is_over_ = false;
  std::thread thread_;  ///< the last, as it uses the others
};

}  // namespace fewbit::offload
