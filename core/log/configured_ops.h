#ifndef RINGSCOPE_CORE_LOG_CONFIGURED_OPS_H_
#define RINGSCOPE_CORE_LOG_CONFIGURED_OPS_H_

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/log/op.h"
#include "core/perfetto/commit_request.h"
#include "core/perfetto/trace_config_facts.h"

namespace ringscope {

/// The records of another source with changes.
class ChangedSource : public OpSource {
 public:
  /// @param source outlives this; it is at the session's first record
  explicit ChangedSource(OpSource& source) : source_(source) {}
  /// Owns its source.
  explicit ChangedSource(std::unique_ptr<OpSource> source)
      : owned_(std::move(source)), source_(*owned_) {}

  Result<std::optional<Op>> Next() override {
    while (pending_.empty()) {
      RS_ASSIGN_OR_RETURN(std::optional<Op> op, source_.Next());
      if (!op || !HasChanges()) return op;
      RS_RETURN_IF_ERROR(
          Change(*std::move(op)));  // its request is valid until the source's next record
    }
    std::optional<Op> op = std::move(pending_.front());
    pending_.pop_front();
    return op;
  }

 protected:
  /// Returns false if records pass as they are from here on.
  virtual bool HasChanges() const = 0;
  /// Calls Add for each record that takes the place of this one. An error ends the stream.
  virtual Status Change(Op op) = 0;
  void Add(Op op) { pending_.push_back(std::move(op)); }

 private:
  const std::unique_ptr<OpSource> owned_;
  OpSource& source_;
  std::deque<Op> pending_;
};

/// A trace config that a session's records are to be as if it had had.
struct SessionConfig {
  std::string config;                   // a TraceConfig message; empty: the session's own
  std::map<BufferKey, uint64_t> sizes;  // bytes, of buffers that neither the log nor `config` has
  bool expects_same_reads = false;      // other reads than the session's are an error

  bool empty() const { return config.empty() && sizes.empty(); }
};

/// Returns true if the service reads the buffers for a file at other times with the other config.
bool ReadsDiffer(const TraceConfigFacts& config, const TraceConfigFacts& other);

/// The records of a session as if it had been started with another trace config: its buffers have
/// the sizes, fill policies and versions of that, and what a data source writes goes into the
/// buffer that the config targets. Buffers that the log lacks are set up before the first commit;
/// their ids begin with the lowest that writers name. Buffers that the config adds are read,
/// cloned and freed with the session's first one. Ends with an error where the log does not show
/// which chunks the config would have moved. Reads are left as they are, see ReadsDiffer.
class ConfiguredOps : public ChangedSource {
 public:
  template <typename Source>
  ConfiguredOps(Source&& source, SessionConfig config)
      : ChangedSource(std::forward<Source>(source)),
        config_(std::move(config)),
        facts_(ReadTraceConfigFacts(wire::AsBytes(config_.config))) {}

 private:
  bool HasChanges() const override { return !config_.empty(); }
  Status Change(Op op) override;
  /// Adds a record at the time of the one that is changed.
  void Put(OpBody body) { Add({time_ns_, std::move(body)}); }
  /// Returns true if a record is of another session of the log, which stays as it is.
  bool IsOther(std::optional<uint64_t> session) {
    if (!session_) session_ = session;
    return session && session_ != session;
  }
  /// Adds the config before the first buffer, if the log has none.
  void PutConfig(std::optional<uint64_t> session) {
    if (!config_.config.empty() && !std::exchange(has_config_, true))
      Put(TraceConfigRecord{.config = config_.config, .session = session});
  }
  Status ChangeConfig(TraceConfigRecord& record);
  /// Changes a buffer's record. @return false if the config lacks it, or it was added before
  bool SetUp(BufferSetUp& setup);
  Status EndSetUp();
  void SetUpUnrecorded(const Commit& commit);
  Status ChangeTarget(DataSourceSetUp& source);
  /// Returns the buffer that a writer's chunks for this one go into.
  BufferId TargetOf(SequenceKey writer, BufferId meant) const;
  /// Notes whether the writer writes bundles of ftrace events, by its first packet.
  void NoteWriter(const ChunkCommit& chunk);
  /// Adds a record about a buffer; one about the session's first buffer also for those that the
  /// config adds, and none for those that it lacks.
  template <typename Record, typename Id>
  void PutForBuffers(Record record, Id Record::*member);
  void MoveChunks(Commit& commit);

  const SessionConfig config_;
  const TraceConfigFacts facts_;
  std::optional<uint64_t> time_ns_;         // of the record that is changed
  std::optional<TraceConfigFacts> before_;  // the session's own config, if the log has it
  std::optional<uint64_t> session_;         // of the config or the first buffer
  bool has_config_ = false;                 // the record is there
  bool is_set_up_ = false;                  // no buffer follows
  std::optional<BufferId> lowest_;          // that writers name
  std::vector<BufferSetUp> setups_;         // as the log has them
  std::map<uint32_t, BufferId> ids_;        // of the config's buffers, by index
  std::vector<BufferId> added_;             // buffers that the log lacks, or has not set up yet
  std::map<std::pair<ProducerId, BufferId>, BufferId> moves_;
  // Moves of ftrace writers, which the content of their packets shows.
  std::map<std::pair<ProducerId, BufferId>, BufferId> ftrace_moves_;
  std::map<SequenceKey, bool> is_ftrace_;
  std::map<SequenceKey, BufferId> registered_;  // writers, with the buffers that they mean
  CommitRequestParser parser_;
  std::string request_;  // the commit returned last, rewritten
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_CONFIGURED_OPS_H_
