#ifndef RINGSCOPE_CORE_SESSION_READ_POLICY_H_
#define RINGSCOPE_CORE_SESSION_READ_POLICY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/session/log_reads.h"
#include "core/session/reads_used.h"
#include "core/session/service_reads.h"
#include "core/session/session.h"

namespace ringscope {

/// Makes the passes that a policy asks for, and knows what policies have to know of the replay.
class ReplayReader {
 public:
  /// @param pass_bytes of each pass; absent: as recorded, else unlimited
  ReplayReader(Session& session, std::optional<uint64_t> pass_bytes, LookAhead log,
               ServiceReads service)
      : session_(session),
        // A pass of no bytes would never end.
        pass_bytes_(pass_bytes == 0 ? 1 : pass_bytes),
        log_(std::move(log)),
        service_(std::move(service)) {}

  std::optional<uint64_t> pass_bytes() const { return pass_bytes_; }
  /// Returns nullptr if the log can be read only once.
  LogReads* log() const { return log_.get(); }
  ServiceReads& service() { return service_; }
  const ServiceReads& service() const { return service_; }
  Session& session() { return session_; }
  uint64_t passes() const { return passes_; }

  /// One pass over all buffers. @return true if it reached its limit
  Result<bool> Pass(std::optional<uint64_t> max_bytes, std::optional<uint64_t> session);
  /// Passes over all buffers until one does not reach its limit.
  Status ReadAll(std::optional<uint64_t> pass_bytes, Session::Reach reach,
                 std::optional<uint64_t> session = {});
  /// The same over one buffer.
  Status ReadBuffer(BufferId buffer);
  /// One recorded pass over one buffer.
  Status ReadBufferOnce(const ReadPass& read);
  /// Reads the clone that is replayed as its holder has; until nothing is left if that is not
  /// recorded.
  Status ReadClone(const CloneView& clone);

 private:
  Session& session_;
  const std::optional<uint64_t> pass_bytes_;
  const LookAhead log_;
  ServiceReads service_;
  uint64_t passes_ = 0;
};

/// Decides when a replay reads the buffers. The calls come in the order of the log. Reads of a
/// consumer that the service answers with nothing are left out of them.
class ReadPolicy {
 public:
  explicit ReadPolicy(ReplayReader& reader) : reader_(reader) {}
  virtual ~ReadPolicy() = default;

  /// The first record that has a time follows.
  virtual void BeginAt(uint64_t /*time_ns*/) {}
  /// A later record of this time follows, ns.
  virtual Status BeforeTime(uint64_t /*time_ns*/) { return {}; }
  /// A record shows that the service reads for a file.
  virtual Status OnFileRead() { return {}; }
  virtual Status OnRecordedRead(const ReadPass& /*read*/) { return {}; }
  virtual Status BeforeFreed(BufferId /*buffer*/) { return {}; }
  /// The log ends. A clone that is replayed is read afterwards, and nothing else.
  /// @param is_plain the log consists of plain operations that are replayed just as written
  virtual Status AtEnd(bool /*is_clone*/, bool /*is_plain*/) { return {}; }
  /// Adds what is to be known about the reads.
  virtual void Describe(ReadsUsed& /*used*/) const {}

 protected:
  ReplayReader& reader_;
};

/// Reads where the log has read passes. In other buffers than the recorded ones, a read that left
/// nothing there is continued until it leaves nothing here.
class RecordedReads : public ReadPolicy {
 public:
  /// @param moves_sequences whether sequences were moved between buffers, so that these differ
  RecordedReads(ReplayReader& reader, bool moves_sequences)
      : ReadPolicy(reader), moves_sequences_(moves_sequences) {}

  Status OnRecordedRead(const ReadPass& read) override;
  Status BeforeFreed(BufferId buffer) override { return FinishLastReads(buffer); }
  Status AtEnd(bool is_clone, bool is_plain) override {
    return is_clone || is_plain ? Status{} : FinishLastReads({});
  }
  void Describe(ReadsUsed& used) const override;

 private:
  Status Continue(const ReadPass& read);
  Status FinishLastReads(std::optional<BufferId> freed);

  const bool moves_sequences_;
  std::vector<bool> finished_;
  /// The last pass of each reader, if it reached its limit.
  std::vector<ReadPass> limited_;
  uint64_t added_passes_ = 0;
  bool recorded_end_unknown_ = false;
  uint64_t seen_in_file_ = 0;
};

/// Reads once, after the last record.
class EndReads : public ReadPolicy {
 public:
  using ReadPolicy::ReadPolicy;
  Status AtEnd(bool is_clone, bool is_plain) override;
};

/// Reads at multiples of a period of log time from the first record, and at the end.
class PeriodicReads : public EndReads {
 public:
  /// @param period_ns 0: only at the end
  PeriodicReads(ReplayReader& reader, uint64_t period_ns)
      : EndReads(reader), period_ns_(period_ns) {}

  void BeginAt(uint64_t time_ns) override { first_ns_ = time_ns; }
  Status BeforeTime(uint64_t time_ns) override;

 private:
  const uint64_t period_ns_;
  uint64_t first_ns_ = 0;
  uint64_t periods_read_ = 0;
};

/// Reads as the service reads a session that it writes into a file, see ServiceReads.
class FileReads : public ReadPolicy {
 public:
  using ReadPolicy::ReadPolicy;
  void BeginAt(uint64_t time_ns) override;
  Status BeforeTime(uint64_t time_ns) override;
  Status OnFileRead() override { return Read(Session::Reach::kOpen); }
  Status AtEnd(bool is_clone, bool is_plain) override;
  void Describe(ReadsUsed& used) const override;

 private:
  Status Read(Session::Reach reach);
};

/// Reads as recorded. A session without reads is read as for a file if the service writes it into
/// one, else once at the end.
class AutoReads : public FileReads {
 public:
  AutoReads(ReplayReader& reader, bool moves_sequences)
      : FileReads(reader), recorded_(reader, moves_sequences), end_(reader) {}

  Status OnFileRead() override;
  Status OnRecordedRead(const ReadPass& read) override;
  Status BeforeFreed(BufferId buffer) override { return recorded_.BeforeFreed(buffer); }
  Status AtEnd(bool is_clone, bool is_plain) override;
  void Describe(ReadsUsed& used) const override;

 private:
  Result<bool> IsForFile();

  RecordedReads recorded_;
  EndReads end_;
  bool has_recorded_reads_ = false;
  std::optional<bool> for_file_;  // once it matters
  bool is_clone_ = false;
  uint64_t left_out_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_READ_POLICY_H_
