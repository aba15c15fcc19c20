#ifndef RINGSCOPE_FORMATS_LOG_PREPARED_FRAME_H_
#define RINGSCOPE_FORMATS_LOG_PREPARED_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/log/op.h"

namespace ringscope {

/// A data frame made ahead of its writer: records are encoded once, and compressed from where they
/// are. Keeps its memory.
class PreparedFrame {
 public:
  /// @param capacity bytes of encoded records, at most commit_log::kMaxRecordBytes
  explicit PreparedFrame(size_t capacity);
  PreparedFrame(const PreparedFrame&) = delete;
  PreparedFrame& operator=(const PreparedFrame&) = delete;

  /// Appends any record but a LogHeader, and copies its request. @return false: there is no space
  bool Append(const Op& op);
  bool empty() const { return bytes_.size() == kSpace; }
  void Clear();

  /// The frame's content, with the number of its first record. Call once, and only if not empty.
  std::string_view Finish(uint64_t first_record);

 private:
  /// Space for the first record's number.
  static constexpr size_t kSpace = 32;

  const size_t capacity_;
  std::string bytes_;  // kSpace, then the records; has all its memory from the start
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_LOG_PREPARED_FRAME_H_
