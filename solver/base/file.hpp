#pragma once

#include <cstddef>
#include <string>

namespace fewbit {

/// The whole of a text file; throws Error (file, reason) when it cannot be read or is larger than
/// `limit` bytes.
std::string read_text_file(const std::string& path, size_t limit = size_t{64} << 20);

/// Writes through a temporary name in the same folder, synchronised and renamed: whoever reads
/// `path` sees the old content or the new one, also after a kill or on a full disk. Creates missing
/// folders. Throws Error (file, reason) and leaves nothing behind on failure.
void write_text_file(const std::string& path, const std::string& content);

}  // namespace fewbit
