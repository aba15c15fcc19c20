#ifndef RINGSCOPE_COMMANDS_SMB_MEMORY_READING_H_
#define RINGSCOPE_COMMANDS_SMB_MEMORY_READING_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "commands/smb/smb_report.h"
#include "core/graph/moment_watch.h"
#include "core/smb/memory_story.h"

namespace ringscope {

/// Producers' shared memory by a session's records: what it was used for, and how it looked at a
/// moment.
class MemoryReading {
 public:
  /// @param only this producer's memory; absent: all
  /// @param keeps_uses of chunks, for trials: see MemoryStory
  explicit MemoryReading(std::optional<ProducerId> only = {}, bool keeps_uses = false)
      : only_(only), story_(kMostEnded, keeps_uses ? kMostUses : 0) {}

  /// Keeps how the memories look at a moment. Call it before Add.
  void KeepAt(const LayoutMoment& at) { watch_.emplace(at); }
  /// Keeps how each producer's memory looked when most of its chunks were in use.
  void KeepFullest() { keeps_fullest_ = true; }

  /// See MemoryStory.
  void SplitByWriter() { story_.SplitByWriter(); }

  /// @param record its number
  void Add(const Op& op, uint64_t record);
  /// The session ends.
  void Finish();

  /// See MemoryStory.
  std::vector<const smb::MemoryFollower*> Memories() const;
  uint64_t unlisted() const { return story_.unlisted(); }
  /// How the memories looked that were kept.
  std::vector<const smb::MemoryFollower*> Pictures() const;
  const SmbProducers& producers() const { return producers_; }

  uint64_t records() const { return records_; }
  uint64_t start_ns() const { return start_ns_.value_or(0); }
  uint64_t duration_ns() const { return last_ns_.value_or(start_ns()) - start_ns(); }

 private:
  bool Wants(ProducerId producer) const { return !only_ || *only_ == producer; }
  void KeepNow();

  const std::optional<ProducerId> only_;
  std::optional<MomentWatch> watch_;
  bool keeps_fullest_ = false;
  /// Memories of producers that left, as many as are listed.
  static constexpr size_t kMostEnded = 1000;
  /// Uses of chunks that trials can have, of all memories of a session: 96 MB.
  static constexpr size_t kMostUses = 1'000'000;
  smb::MemoryStory story_;
  SmbProducers producers_;
  std::map<ProducerId, std::unique_ptr<const smb::MemoryFollower>> kept_;
  uint64_t records_ = 0;
  std::optional<uint64_t> start_ns_;
  std::optional<uint64_t> last_ns_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SMB_MEMORY_READING_H_
