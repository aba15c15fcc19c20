#ifndef RINGSCOPE_COMMANDS_RECORD_PRODUCER_TAP_H_
#define RINGSCOPE_COMMANDS_RECORD_PRODUCER_TAP_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "commands/record/producer_memory.h"
#include "commands/record/tap.h"

namespace ringscope {

/// Logs what a producer commits and what the service sends to it, and scrapes its shared memory
/// instead of the service.
///
/// The service scrapes without a message on the socket. So it is informed that
/// this producer does not want to be scraped, and what it would have found is sent to it as chunks
/// with data: whenever the producer acknowledges a flush, reports that a data source has stopped,
/// or disconnects. Log and service get the same, in the same order.
class ProducerTap : public Tap {
 public:
  /// @param peer who connected
  ProducerTap(RecordingState& recording, PeerIdentity peer) : Tap(recording), peer_(peer) {}

  ~ProducerTap() override { SetTargets({}); }

  Result<bool> Prepare(const ipc::Frame* next, FrameSocket& service) override;
  Status Collect(const ipc::InvokeMethod& invoke) override;
  bool WantsScrape() const override;
  void Scrape(FrameSocket& service) override;
  void OnHeld(std::chrono::nanoseconds held) override;
  OrderedBuffers BuffersOf(const ipc::Frame* next) const override;
  std::set<BufferId> InOrder() const override { return unconfirmed_; }
  bool HoldsServiceFrames() const override { return recording_.identifying > 0; }
  std::string Describe() const override;

 private:
  Status OnRequest(ipc::MethodName method, const ipc::InvokeMethod& invoke, PassingFrame&& frame,
                   FrameSocket& service) override;
  Status OnReply(ipc::MethodName method, uint64_t request_id, const ipc::InvokeMethodReply& reply,
                 PassingFrame& frame) override;
  void OnDisconnect(FrameSocket* service) override;
  ipc::MethodName ConfirmingMethod() const override {
    return collected_.empty() ? ipc::MethodName::kSync : ipc::MethodName::kCommitData;
  }
  std::string ConfirmingArgs() override { return std::exchange(collected_, {}); }
  void OnAllHandled() override;

  Status OnInitialize(const ipc::InvokeMethod& invoke, PassingFrame&& frame, FrameSocket& service);
  Status OnCommit(const ipc::InvokeMethod& invoke, PassingFrame&& frame, FrameSocket& service);
  /// Logs a request that concerns data sources, writers or triggers.
  Status LogRequest(ipc::MethodName method, Bytes args);
  Status OnCommand(Bytes reply, const PassingFrame& frame);
  void OnInstance(const ipc::DataSourceInstance& instance, Bytes command);
  void OnFlush(const ipc::FlushCommand& flush);

  Status UseMemory(const UniqueFd& fd, size_t page_bytes);
  /// Returns true if nothing else that commits to its buffers or reads them can be under way.
  bool IsAlone() const;
  void SetTargets(std::set<BufferId> targets);
  /// Its commits so far are handled in the order of the log only if they are confirmed.
  void Confirm() { Take(IsAlone() ? Step::kPass : Step::kFill); }
  /// Returns true for a commit that can be sent as a part of another, and has no effect at once.
  bool MayCollect(const ipc::Frame& frame) const;
  /// Logs what the producer has sent: once the service has confirmed it, unless it is alone.
  void Log(OpBody body);
  /// Logs what waits for the service's confirmation.
  void LogUnlogged();
  /// Takes what a commit has in shared memory, and counts it, before it is sent. kCorrupt: it is
  /// not well-formed.
  Status TakeCommit(Bytes request);
  Status CountCommit(Bytes request);
  void LogCommit(Origin origin, Bytes request);
  /// A commit to this buffer is about to be sent.
  void NoteTarget(BufferId target);
  /// Scrapes and logs what is found. @return the commits that bring it to the service
  std::vector<std::string> TakeScraped(ProducerMemory::Scrape which);
  void Send(const std::vector<std::string>& commits, FrameSocket& service);

  const PeerIdentity peer_;
  ProducerId producer_{};
  std::string name_;
  bool connected_ = false;           // has initialized its connection
  bool wants_scraping_ = false;      // asked the service for it
  bool may_patch_directly_ = false;  // the service lets it
  std::unique_ptr<ProducerMemory> memory_;
  std::optional<MemoryWatch> watch_;  // of memory_
  std::map<WriterId, BufferId> writers_;
  std::map<std::string, bool> no_flush_;  // by data source
  std::set<BufferId> targets_;            // of its data sources
  std::set<BufferId> unconfirmed_;        // has committed to
  CommitReader commit_;
  CommitRequestParser parser_;
  // Commits to be sent as one request: their chunks, and then their patches.
  std::string collected_;
  std::string collected_log_;  // as the log has it
  Origin collected_origin_ = Origin::kShm;
  std::vector<StoredOp> unlogged_;
  bool is_scraped_ = false;  // for the last time
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_PRODUCER_TAP_H_
