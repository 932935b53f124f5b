#pragma once

#include <cstdint>
#include <map>

namespace fewbit::offload {

/// Which bytes of a file are free.
class FileSpace {
 public:
  /// So many bytes, as near to the file's begin as they fit: where they begin.
  int64_t take(int64_t bytes);
  void give_back(int64_t offset, int64_t bytes);

  /// Behind the last byte that is taken.
  int64_t end() const { return end_; }
  int64_t taken() const { return taken_; }

 private:
  static int64_t whole_pages(int64_t bytes);

  std::map<int64_t, int64_t> free_;  ///< bytes by offset, before the end; no two touch
  int64_t end_ = 0;
  int64_t taken_ = 0;
};

}  // namespace fewbit::offload
