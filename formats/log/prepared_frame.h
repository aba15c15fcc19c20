#ifndef RINGSCOPE_FORMATS_LOG_PREPARED_FRAME_H_
#define RINGSCOPE_FORMATS_LOG_PREPARED_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/log/op.h"

namespace ringscope {

/// The encoded records of a data frame, made ahead of its writer, perhaps in another thread. Keeps
/// its memory when it is cleared.
class PreparedFrame {
 public:
  /// @param capacity bytes of encoded records, at most commit_log::kMaxRecordBytes
  explicit PreparedFrame(size_t capacity) : capacity_(capacity) { bytes_.reserve(capacity); }
  PreparedFrame(const PreparedFrame&) = delete;
  PreparedFrame& operator=(const PreparedFrame&) = delete;

  /// Appends any record but a LogHeader, and copies its request. @return false: there is no space
  bool Append(const Op& op);
  bool empty() const { return bytes_.empty(); }
  void Clear() { bytes_.clear(); }

  /// Appends the records to a frame's content, the first one with its number. Call if not empty.
  void AppendTo(std::string& content, uint64_t first_record) const;

 private:
  const size_t capacity_;
  std::string bytes_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_LOG_PREPARED_FRAME_H_
