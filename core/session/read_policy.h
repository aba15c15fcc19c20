#ifndef RINGSCOPE_CORE_SESSION_READ_POLICY_H_
#define RINGSCOPE_CORE_SESSION_READ_POLICY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/enum_names.h"
#include "core/log/service_reads.h"
#include "core/session/session.h"

namespace ringscope {

/// When a replay reads the buffers.
enum class ReadsMode : uint8_t {
  kAuto,      // as recorded; if the session has no reads: kStreamed where the service writes it
              // into a file, else kEnd
  kRecorded,  // as recorded, even if that is never
  kEnd,       // once, after the last record; the log's own passes are left out
  kNone,      // never
  kEvery,     // at multiples of a period of log time from the first record, and at the end
  kStreamed,  // as the service reads a session that it writes into a file, see ServiceReads
};
struct ReadsRow {
  ReadsMode value;
  const char* name;
  const char* text;   // of a replay, with {} for the period
  const char* swept;  // of a sweep, with {} for what was asked for
};
template <>
inline constexpr auto kEnumRows<ReadsMode> = EnumTable<ReadsRow>({
    {ReadsMode::kAuto, "auto", "as recorded", "read as recorded"},
    {ReadsMode::kRecorded, "recorded", "as recorded", "read as recorded"},
    {ReadsMode::kEnd, "end", "at the end", "read at the end"},
    {ReadsMode::kNone, "none", "by choice", "never read"},
    {ReadsMode::kEvery, "every", "every {}", "read {}"},
    {ReadsMode::kStreamed, "streamed", "every {} as for a file", "read as for a file ({})"},
});

/// The user's choice of reads.
struct ReadsChoice {
  ReadsMode mode = ReadsMode::kAuto;
  /// Period of kEvery, ns. For kStreamed it replaces the config's period; 0 keeps that.
  uint64_t every_ns = 0;
  std::string like = {};  // a trace whose reads are to be found first, see FindReads; empty: none

  friend bool operator==(const ReadsChoice&, const ReadsChoice&) = default;
};

/// When a replay did read the buffers, and what of that the log does not show.
struct ReadsUsed {
  ReadsMode mode = ReadsMode::kRecorded;  // never kAuto
  bool assumed = false;                   // the log does not show when it was read, nobody chose
  uint64_t period_ns = 0;                 // of kEvery and kStreamed
  bool alignment_assumed = false;  // of kStreamed: no clock snapshot shows where the periods begin
  uint64_t added_passes = 0;       // that continued recorded reads, in other buffers than recorded
  bool recorded_end_unknown = false;  // one of them is not known to have left nothing
  uint64_t empty_reads = 0;           // of a consumer, which the service answers with nothing
  uint64_t seen_in_file = 0;          // recorded because the service's file had grown
  /// Bytes of max_file_size_bytes, where the replay reads more: the service's file ends there.
  uint64_t exceeded_file_bytes = 0;
  uint64_t left_out = 0;                 // of the log's own, after an assumed read had been made
  std::string like;                      // the trace whose reads these are; empty: none
  uint64_t like_packets = 0;             // in that trace, without the service's own
  uint64_t like_explained = 0;           // of these, returned in their place, from the first one on
  std::vector<std::string> not_applied;  // settings of --config that no replay can apply
  /// For each ReadPass of the log, in order: true if it read all buffers and ended before its
  /// limit, so that it left nothing. Empty if the buffers were others than recorded, or read
  /// otherwise.
  std::vector<bool> left_nothing;
};

/// Returns true if a session has a read that touches its buffers, see ServiceReads. Asked where
/// only the whole session can show it. Empty: the log can be read only once, so it is not known.
using HasReads = std::function<Result<bool>()>;

/// Opens a session's records, from the first one; called again where they are needed again.
using OpenOps = std::function<Result<std::unique_ptr<OpSource>>()>;

/// Decides when a replay reads the buffers, and reads them. The calls come in the order of the log.
class ReadPolicy {
 public:
  /// @param is_reconfigured whether the records are as if the session had had other buffers
  ReadPolicy(Session& session, const ReadsChoice& choice, HasReads has_reads, bool is_reconfigured);

  ServiceReads& service() { return service_; }
  const ServiceReads& service() const { return service_; }
  uint64_t passes() const { return passes_; }

  /// The first record that has a time follows.
  void BeginAt(uint64_t time_ns);
  /// A later record of this time follows, ns.
  Status BeforeTime(uint64_t time_ns);
  /// A record shows that the service reads for a file.
  Status OnFileRead();
  Status OnRecordedRead(const ReadPass& read);
  /// The consumer disconnects. The recorder that saw it would have seen its reads, too.
  void OnConsumerGone() { is_consumer_gone_ = true; }
  Status BeforeFreed(BufferId buffer) { return FinishLastReads(buffer); }
  /// The log ends. A clone that is replayed is read afterwards, and nothing else.
  /// @param is_plain the log consists of plain operations that are replayed just as written
  Status AtEnd(bool is_plain);
  /// After the end.
  ReadsUsed used() const;
  /// Returns true if the last ReadPass read all buffers and left nothing in them.
  bool left_nothing() const { return !used_.left_nothing.empty() && used_.left_nothing.back(); }

 private:
  Status ReadAll(std::optional<uint64_t> pass_bytes, Session::Reach reach,
                 std::optional<uint64_t> session = {});
  Status ReadForFile(Session::Reach reach) {
    return ReadAll(ServiceReads::kFilePassBytes, reach, service_.session());
  }
  Status ReadRecorded(const ReadPass& read);
  Status ReadClone(const CloneFacts& clone);
  Result<bool> Pass(std::optional<uint64_t> max_bytes, Session::Reach reach,
                    std::optional<uint64_t> session);
  Status Continue(const ReadPass& read);
  Status FinishLastReads(std::optional<BufferId> freed);
  Result<bool> IsForFile();

  Session& session_;
  const ReadsMode mode_;
  const uint64_t every_ns_;
  const HasReads has_reads_;
  const bool is_reconfigured_;
  ServiceReads service_;
  uint64_t now_ns_ = 0;  // of the last record that has a time
  uint64_t passes_ = 0;
  uint64_t first_ns_ = 0;      // kEvery
  uint64_t periods_read_ = 0;  // kEvery
  /// The last recorded pass of each reader, if it reached its limit.
  std::vector<ReadPass> limited_;
  bool has_recorded_reads_ = false;
  bool is_consumer_gone_ = false;
  std::optional<bool> for_file_;  // kAuto: once it matters
  ReadsUsed used_;
};

/// When a replay read: "as recorded", "every 500 ms as for a file (assumed)".
std::string ReadsText(const ReadsUsed& used);
/// For a column: "recorded", "streamed (assumed)".
std::string ReadsName(const ReadsUsed& used);
/// Returns sentences about reads that were assumed, left out or added; may be empty.
std::string ReadsNotes(const ReadsUsed& used);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_READ_POLICY_H_
