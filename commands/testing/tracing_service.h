#ifndef RINGSCOPE_COMMANDS_TESTING_TRACING_SERVICE_H_
#define RINGSCOPE_COMMANDS_TESTING_TRACING_SERVICE_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "commands/record/event_loop.h"
#include "commands/testing/consumer_port.h"
#include "commands/testing/producer_port.h"
#include "commands/testing/service_journal.h"
#include "commands/testing/tracing_session.h"

namespace ringscope::testing {

struct TracingServiceOptions {
  /// Of all producers that bring none; absent: by the session's config and the producer's hints.
  std::optional<MemorySizes> memory = {};
  /// Bytes of packets after which a pass for a consumer, or for a file, ends.
  uint64_t consumer_pass_bytes = 32 * 1024;
  uint64_t file_pass_bytes = 1024 * 1024;
  /// From its start the service has a session without a consumer, with one buffer, in which each
  /// data source takes part. What producers do then is in the journal.
  bool traces_all = false;
  bool keeps_journal = false;  // of what producers do in other sessions, too
  bool seal_memory = true;     // against shrinking
  /// Frames of different connections that have arrived are handled in random order, as a busy
  /// service may: who wants an order must wait for replies.
  bool shuffle = false;
  /// Gets each committed chunk in place of the buffers and the journal: for measurements.
  std::function<void(Bytes chunk)> on_chunk = {};
};

/// A small tracing service: sessions, their data sources and buffers, flushes, reads, clones, as
/// Perfetto's service has them. One thread: each socket's event is handled as a whole, and what
/// arrives first is handled first.
class TracingService {
 public:
  TracingService(EventLoop& loop, TracingServiceOptions options, ServiceJournal& journal);
  ~TracingService();

  void AddProducer(UniqueFd fd);
  void AddConsumer(UniqueFd fd);

  // From producers.
  void OnProducerInitialized(ProducerPort& producer);
  void OnMemory(ProducerPort& producer);
  void OnSourceRegistered(ProducerPort& producer, const ipc::DataSourceDescriptor& source);
  void OnSourceGone(ProducerPort& producer, const std::string& source);
  void OnCommit(ProducerPort& producer, Bytes request);
  void OnNotified(ProducerPort& producer, uint64_t instance, bool stopped);
  void OnTrigger(ProducerPort& producer, const std::string& name);
  void OnProducerGone(ProducerPort& producer);
  /// Tells all sessions of a fact.
  void Announce(const OpBody& fact);

  // From consumers. Empty errors: none.
  /// @param consumer nullptr if the session has none
  std::string EnableTracing(ConsumerPort* consumer, Bytes raw_config, UniqueFd file);
  void StartTracing(TracingSession& session);
  void DisableTracing(TracingSession& session);
  void FreeBuffers(TracingSession& session);
  void Flush(TracingSession& session, uint64_t timeout_ms, uint64_t flags,
             std::function<void(bool ok)> done);
  /// One pass. @return its packets, and whether the byte limit ended it
  SessionStore::Pass ReadPass(TracingSession& session, uint64_t max_bytes);
  /// Whether a consumer's read gets packets.
  static bool IsReadable(const TracingSession& session);
  std::string TraceStats(TracingSession& session);
  struct CloneRequest {
    uint64_t session_id = 0;
    std::string unique_session_name = {};
    bool for_bugreport = false;
    std::optional<ReceivedTrigger> trigger = {};
    UniqueFd file = {};
  };
  struct CloneReply {
    std::string error;  // empty: it is there
    uint64_t uuid_msb = 0;
    uint64_t uuid_lsb = 0;
    bool was_write_into_file = false;
  };
  void CloneSession(ConsumerPort& consumer, CloneRequest request,
                    std::function<void(CloneReply)> done);
  void OnConsumerGone(ConsumerPort& consumer);
  TracingSession* SessionOf(const ConsumerPort& consumer);
  /// The sessions, and clones, that there are.
  ipc::QueryServiceStateReply ListSessions() const;

  /// Flushes the session that traces everything.
  void FlushAll();
  /// Sends a command to the producer of this name.
  void SendTo(const std::string& producer, const ipc::AsyncCommand& command);

  EventLoop& loop() { return loop_; }
  const TracingServiceOptions& options() const { return options_; }
  bool keeps_journal() const {
    return (options_.traces_all || options_.keeps_journal) && !options_.on_chunk;
  }
  /// The order in which frames are handled; nullptr if they are handled as they arrive.
  FrameShuffle* shuffle() { return options_.shuffle ? &shuffle_ : nullptr; }

 private:
  using Timer = EventLoop::Timer;
  struct Clone;

  // Producers and what they write: tracing_service.cc.
  ProducerPort* FindProducer(ProducerId id);
  TracingSession* FindSession(uint64_t id);
  TracingSession* OwnerOf(BufferId id);
  void Introduce(const ProducerPort& producer, TracingSession& session);
  void Scrape(const ProducerPort& producer, TracingSession& session);
  /// Lets a data source take part in the session that traces everything.
  void AddToAll(const std::string& source);

  // Sessions: service_sessions.cc.
  std::string Refusal(const ConsumerPort* consumer, const ServiceConfig& config,
                      const UniqueFd& file) const;
  BufferId NextBufferId();
  MemorySizes MemoryFor(const ProducerPort& producer, const TracingSession& session) const;
  void SetUpSource(TracingSession& session, size_t index, ProducerPort& producer,
                   const ipc::DataSourceDescriptor& source);
  void StartInstance(SourceInstance& instance);
  void StopInstance(SourceInstance& instance);
  void CheckAllStarted(TracingSession& session);
  void CheckAllStopped(TracingSession& session);
  void EndTracing(TracingSession& session);
  void OnDurationEnd(TracingSession& session);
  void ArmSnapshots(TracingSession& session);
  void ArmStateClear(TracingSession& session);
  /// Calls at the next multiple of the period on CLOCK_MONOTONIC.
  Timer CallAtMultiple(uint64_t period_ms, std::function<void()> call);
  static void AddEvent(TracingSession& session, uint32_t field, bool with_clocks = false,
                       uint64_t value = 1);

  // Flushes: service_flushes.cc.
  using InstanceFilter = std::function<bool(const SourceInstance&)>;
  void FlushInstances(TracingSession& session, uint64_t timeout_ms, uint64_t flags,
                      const InstanceFilter& wants, std::function<void(bool ok)> done);
  void OnFlushDone(ProducerId producer, uint64_t flush);
  void CompleteFlush(uint64_t session_id, std::function<void(bool)> done, bool ok);
  void ArmPeriodicFlush(TracingSession& session, uint64_t period_ms);
  /// How often a session is flushed by itself; 0: not at all.
  static uint64_t FlushPeriodMs(const TracingSession& session);
  static uint64_t WritePeriodMs(const TracingSession& session);

  // Reads and files: service_reads.cc.
  uint64_t AddServicePackets(TracingSession& session, std::vector<std::string>& packets);
  static void AddWaitingEvents(TracingSession& session, std::vector<std::string>& packets);
  void ArmFileWrite(TracingSession& session);
  void WriteFile(TracingSession& session);
  /// Reads until nothing is left. @return false: the file is at its end
  bool ReadIntoFile(TracingSession& session);
  static bool FlushesBeforeWrite(const TracingSession& session);

  // Clones: service_clones.cc.
  void CloneGroup(const std::shared_ptr<Clone>& clone, bool transfer);
  void FinishClone(const std::shared_ptr<Clone>& clone);

  EventLoop& loop_;
  const TracingServiceOptions options_;
  ServiceJournal& journal_;
  FrameShuffle shuffle_;
  std::map<ProducerId, std::unique_ptr<ProducerPort>> producers_;
  /// All data sources, in the order of their registration.
  std::vector<std::pair<ProducerId, ipc::DataSourceDescriptor>> sources_;
  std::map<ConsumerPort*, std::unique_ptr<ConsumerPort>> consumers_;
  std::map<uint64_t, std::unique_ptr<TracingSession>> sessions_;
  std::map<BufferId, uint64_t> owners_;  // of live buffers, by session
  uint16_t last_producer_ = 0;
  uint16_t last_buffer_ = 0;
  uint64_t last_session_ = 0;
  uint64_t last_instance_ = 0;
  uint64_t last_flush_ = 0;
  uint64_t chunks_discarded_ = 0;   // of buffers that are not there, or not any more
  uint64_t patches_discarded_ = 0;  // likewise
  std::map<uint64_t, Timer> tasks_;
  uint64_t last_task_ = 0;
  /// Calls when what is being handled now is done.
  void Post(std::function<void()> task);
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_TRACING_SERVICE_H_
