#ifndef RINGSCOPE_CLI_TESTING_LOG_SIZES_H_
#define RINGSCOPE_CLI_TESTING_LOG_SIZES_H_

#include <string>

namespace ringscope {

/// `made`, with those sizes of logs ("1,745 records, 927 KiB") that differ from the size in the
/// same place of `expected` by at most 1 % replaced by it: how small zstd makes a log depends on
/// zstd's release. All else is left as it is, and so are all sizes if the two texts have not the
/// same number of them.
std::string WithLogSizesOf(const std::string& expected, const std::string& made);

}  // namespace ringscope

#endif  // RINGSCOPE_CLI_TESTING_LOG_SIZES_H_
