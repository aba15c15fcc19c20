#ifndef RINGSCOPE_CORE_LOG_SESSION_BOUNDS_H_
#define RINGSCOPE_CORE_LOG_SESSION_BOUNDS_H_

#include <cstdint>
#include <string>
#include <utility>

#include "core/log/op.h"

namespace ringscope {

/// Follows the headers of logs that are read one after the other.
class SessionBounds {
 public:
  enum class Place : uint8_t {
    kStart,     // the first record of a session
    kWithin,    // a record of the session, or the header of its next part
    kRepeated,  // known from the parts before, which were read
  };
  /// @param number of the record in its file
  Place Add(const Op& op, uint64_t number) {
    const bool first = std::exchange(at_start_, false);
    const auto* header = std::get_if<LogHeader>(&op.body);
    if (header == nullptr) {
      if (first) uuid_.clear();
      return first ? Place::kStart : number < repeated_until_ ? Place::kRepeated : Place::kWithin;
    }
    const bool continues =
        !uuid_.empty() && header->uuid == uuid_ && uint64_t{part_} + 1 == header->part;
    uuid_ = header->uuid;
    part_ = header->part;
    repeated_until_ = continues ? number + 1 + header->repeated_records : 0;
    return continues ? Place::kWithin : Place::kStart;
  }
  /// Begins another file, whose numbers begin again.
  void StartFile() {
    at_start_ = true;
    repeated_until_ = 0;
  }
  bool at_start() const { return at_start_; }
  /// Names the session whose header had no uuid when it was added.
  void SetUuid(const std::string& uuid) { uuid_ = uuid; }

 private:
  bool at_start_ = true;         // of a file
  std::string uuid_;             // of the last header, if it has one
  uint32_t part_ = 0;            // of the last header
  uint64_t repeated_until_ = 0;  // record number
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_SESSION_BOUNDS_H_
