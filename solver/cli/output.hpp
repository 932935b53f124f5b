#pragma once

#include <string>
#include <vector>

namespace fewbit::solver {

/// Writes to standard output; flush_output reports what did not arrive. Where the reader has gone
/// (a pipe to head) the text is dropped in silence: the work goes on, and so does its exit code.
void print(const std::string& text);

/// As an output "-" is standard output, and so is no name at all.
bool is_standard_output(const std::string& path);

/// Throws Error (`path`, reason) unless a file can be written there: for use before long work. The
/// folder must exist; a file in it need not.
void check_output(const std::string& path);

/// Throws UsageError where a file that is read would be written to: `inputs` are names of files,
/// also FILE.npz:KEY.
void check_not_input(const std::string& option, const std::string& path,
                     const std::vector<std::string>& inputs);

/// The files that `--weight` names.
std::vector<std::string> files_of(const std::vector<std::string>& weights);

/// To `path` (atomically), or to standard output; makes no folder. Throws as check_output does.
void write_output(const std::string& path, const std::string& content);

/// Throws Error when something written to standard output was lost (a full disk).
void flush_output();

/// Standard output shows colours: a terminal, and NO_COLOR is not set.
bool wants_colour();

/// Columns of a line: COLUMNS, else what the terminal says, else 80; at least 40, at most 160.
int output_width();

/// --quiet: no progress and no notes from here on.
void set_quiet(bool quiet);
bool is_quiet();

}  // namespace fewbit::solver
