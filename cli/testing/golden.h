#ifndef RINGSCOPE_CLI_TESTING_GOLDEN_H_
#define RINGSCOPE_CLI_TESTING_GOLDEN_H_

#include <filesystem>
#include <string>

namespace ringscope {

/// Returns true if golden files are to be written (RINGSCOPE_UPDATE_GOLDEN=1), not compared.
bool UpdatesGoldens();

/// Writes `made` to a golden file, or compares it with the file: a failure prints the lines that
/// differ, the file's path and how to update it. Sizes of logs ("1,745 records, 927 KiB") may
/// differ by 1 %: how small zstd makes a log depends on zstd's release.
void ExpectGolden(const std::filesystem::path& path, const std::string& made);

/// Does so with the part of a file from the offset `begin` to `end`.
void ExpectGoldenPart(const std::filesystem::path& path, size_t begin, size_t end,
                      const std::string& made);

}  // namespace ringscope

#endif  // RINGSCOPE_CLI_TESTING_GOLDEN_H_
