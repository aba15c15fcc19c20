#ifndef RINGSCOPE_CORE_SESSION_SESSION_NOTES_H_
#define RINGSCOPE_CORE_SESSION_SESSION_NOTES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/session/replay_listener.h"

namespace ringscope {

/// When a session began, and who its producers are. Watches a replay.
class SessionNotes : public ReplayListener {
 public:
  void OnRecord(const Op& op, const LogMoment& moment) override;

  /// Name of the sequence's producer; empty: not known.
  std::string ProducerOf(SequenceKey sequence) const;
  /// Bytes of the shared memory of the sequence's producer.
  std::optional<uint64_t> SharedMemoryOf(SequenceKey sequence) const;
  /// Time of the session's first record that has one, ns; 0: none has.
  uint64_t start_ns() const { return start_ns_.value_or(0); }

 private:
  struct Producer {
    std::string name;
    std::optional<uint64_t> smb_size;
  };
  std::map<ProducerId, Producer> producers_;
  std::optional<uint64_t> start_ns_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_SESSION_NOTES_H_
