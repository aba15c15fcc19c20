#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "commands/record/producer_memory.h"
#include "commands/record/tap.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/fragment.h"

namespace ringscope {
namespace {

constexpr size_t kBytesPerKb = 1024;
/// Bytes of chunks that one added request may have: the frame around it stays well below
/// ipc::kMaxFrameBytes.
constexpr size_t kMaxAddedBytes = 96 * 1024;

/// A commit larger than this has chunks with their data, and is sent by itself.
constexpr size_t kMaxCollectedBytes = 4096;

/// Bytes of commits, with their chunks, that are logged as one. A service that is busy replies
/// late: with a smaller limit producers lose packets while they wait for the next commit's turn.
constexpr size_t kMaxCollectedLog = size_t{1} << 20;

/// A producer can be held back for less as well by a service that is busy.
constexpr std::chrono::milliseconds kMarkedHold{1};

template <typename Message>
Result<Message> Decode(Bytes bytes) {
  Message message;
  if (const Status status = DecodeMessage(bytes, message); !status) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("sent a message that cannot be parsed: {}", status.error().message));
  }
  return message;
}

std::optional<uint64_t> FlushIn(Bytes commit) {
  return wire::LastVarint(commit, proto::CommitDataRequest::kFlushRequestId);
}

/// Returns true if the chunk's writer aborted a packet in it, or reports packets that it dropped.
bool ShowsLoss(const ChunkHeader& header, Bytes payload) {
  bool dropped = false;
  const FragmentStatus end =
      VisitFragments(payload, header.fragments, [&](const Fragment& fragment) {
        if (fragment.offset == 0 && (header.flags & kFirstContinues) != 0) return;
        dropped |= wire::LastVarint(payload.subspan(fragment.body, fragment.size()),
                                    proto::TracePacket::kPreviousPacketDropped)
                       .value_or(0) != 0;
      });
  return dropped || end == FragmentStatus::kWriterDrop;
}

WriterId CutToWriterId(uint64_t id) { return WriterId{static_cast<uint16_t>(id)}; }
BufferId CutToBufferId(uint64_t id) { return BufferId{static_cast<uint16_t>(id)}; }

/// Logs what a producer commits and what the service sends to it, and scrapes its shared memory
/// instead of the service.
///
/// The service scrapes without a message on the socket. So it is informed that
/// this producer does not want to be scraped, and what it would have found is sent to it as chunks
/// with data: whenever the producer acknowledges a flush, reports that a data source has stopped,
/// or disconnects. Log and service get the same, in the same order.
class ProducerTap : public Tap {
 public:
  using Tap::Tap;
  ~ProducerTap() override { SetTargets({}); }

  /// The service reads, clones or scrapes after an acknowledgement, and reads after a stop: what is
  /// committed until then is handled, and logged, before. The acknowledgement's own chunks are
  /// first, then what is scraped.
  Result<bool> Prepare(const ipc::Frame* next, FrameSocket& service) override {
    const ipc::MethodName method = next == nullptr ? ipc::MethodName::kUnknown : MethodOf(*next);
    if (method == ipc::MethodName::kCommitData) {
      const auto& invoke = std::get<ipc::InvokeMethod>(next->body);
      if (!FlushIn(invoke.args)) return false;
      RS_RETURN_IF_ERROR(TakeCommit(invoke.args));
      if (const std::string& rest = commit_.without_flush(); !rest.empty())
        Send(wire::AsBytes(rest), commit_.for_log(), commit_.origin(), service);
    } else if (next != nullptr && method != ipc::MethodName::kNotifyDataSourceStopped) {
      return false;
    }
    is_scraped_ = next == nullptr;
    SendScraped(ProducerMemory::Scrape::kAll, service);
    return phase() == Phase::kFull;
  }
  Status Collect(const ipc::InvokeMethod& invoke) override {
    RS_RETURN_IF_ERROR(TakeCommit(invoke.args));
    if (unconfirmed_.empty()) AddUnconfirmed({}, {}, commit_.origin());
    UnconfirmedCommit& all = unconfirmed_.back();
    all.request += wire::AsText(invoke.args);
    all.for_log += wire::AsText(commit_.for_log());
    const bool is_full =
        all.request.size() > kMaxAddedBytes || all.for_log.size() > kMaxCollectedLog;
    Take(is_full ? Step::kFill : Step::kPass);
    return {};
  }
  bool WantsScrape() const override {
    // Chunks for a session that never asks the producer to flush are never acknowledged.
    return IsLeftOut(recording_.instances, producer_);
  }
  void Scrape(FrameSocket& service) override {
    if (watch_) watch_->LookIfDue();  // it may commit nothing for long
    SendScraped(ProducerMemory::Scrape::kChanged, service);
  }
  /// A loss in that time shows in the chunks that a writer had, or in the first that it takes next.
  void OnHeld(std::chrono::nanoseconds held) override {
    const uint64_t chunks = held < kMarkedHold || memory_ == nullptr ? 0 : memory_->ChunksIfFull();
    if (chunks == 0) return;
    held_ = held;
    chunks_after_hold_ = chunks + writers_.size();
  }
  OrderedBuffers BuffersOf(const ipc::Frame* next) const override {
    // It may commit before the recorder has seen what its data sources write to.
    const bool all = targets_.empty() || recording_.flushes.IsCloning(targets_);
    const bool collected = next != nullptr && !all && MayCollect(*next);
    // A command that arrives before a reply hides the reply's place among those of others.
    const bool shared = collected && !recording_.buffers.ExpectsCommands(EventLoop::Clock::now());
    return {.all = all, .collected = collected, .shared = shared, .ids = targets_};
  }
  std::set<BufferId> InOrder() const override { return committed_to_; }
  bool HoldsServiceFrames() const override { return recording_.identifying > 0; }
  std::string Describe() const override {
    if (!connected_) return fmt::format("a producer (pid {})", peer().pid);
    return fmt::format("producer {} ({}, pid {})", Raw(producer_), Printable(name_), peer().pid);
  }

 private:
  Status OnRequest(ipc::MethodName method, const ipc::InvokeMethod& invoke, PassingFrame&& frame,
                   FrameSocket& service) override {
    if (method == ipc::MethodName::kInitializeConnection)
      return OnInitialize(invoke, std::move(frame), service);
    if (method == ipc::MethodName::kCommitData) return OnCommit(invoke, std::move(frame), service);
    RS_RETURN_IF_ERROR(LogRequest(method, invoke.args));
    service.Queue(std::move(frame));
    return {};
  }

  Status OnReply(ipc::MethodName method, uint64_t, const ipc::InvokeMethodReply& reply,
                 PassingFrame& frame) override {
    if (!reply.success) return {};
    if (method == ipc::MethodName::kGetAsyncCommand) return OnCommand(reply.reply, frame);
    if (method != ipc::MethodName::kInitializeConnection) return {};
    RS_ASSIGN_OR_RETURN(const auto answer, Decode<ipc::InitializeConnectionReply>(reply.reply));
    may_patch_directly_ = answer.direct_patching;
    if (!answer.uses_provided_shared_memory) {  // what the producer has provided, if it has
      watch_.reset();
      memory_.reset();
    }
    if (answer.use_emulation)
      recording_.log.Append(SharedMemorySetUp{.producer = producer_, .size = 0, .page_size = 0});
    return {};
  }

  void OnDisconnect(FrameSocket* service) override {
    if (!connected_) return;
    std::erase_if(unconfirmed_, [](const auto& commit) { return !commit.request.empty(); });
    if (service != nullptr && !is_scraped_) {
      SendScraped(ProducerMemory::Scrape::kAll, *service);
      for (UnconfirmedCommit& commit : unconfirmed_)
        if (const std::string request = std::exchange(commit.request, {}); !request.empty())
          Invoke(ipc::MethodName::kCommitData, wire::AsBytes(request), /*drop_reply=*/true,
                 *service);
    }
    if (!unconfirmed_.empty()) {
      std::set<BufferId> shared = committed_to_;
      std::erase_if(shared, [this](BufferId id) { return !recording_.IsShared({id}); });
      MarkUnordered(shared);
    }
    OnAllHandled();
    SetTargets({});
    recording_.connected.erase(recording_.connected.find(name_));
    std::erase_if(recording_.instances,
                  [this](const auto& instance) { return instance.first.first == producer_; });
    if (watch_) watch_->LookNow(/*always=*/true);
    watch_.reset();
    recording_.log.Append(ProducerDisconnected{producer_});
  }
  /// Each commit that waits for it is confirmed by its own reply: the service may read between it
  /// and a request that follows.
  std::pair<ipc::MethodName, std::string> NextConfirmation() override {
    if (unconfirmed_.empty() || unconfirmed_.front().request.empty())
      return {ipc::MethodName::kSync, {}};
    return {ipc::MethodName::kCommitData, std::exchange(unconfirmed_.front().request, {})};
  }
  void OnAllHandled() override {
    for (; !unconfirmed_.empty() && unconfirmed_.front().request.empty();
         unconfirmed_.pop_front()) {
      LogCommit(wire::AsBytes(unconfirmed_.front().for_log), unconfirmed_.front().origin);
      recording_.spare_texts.Return(std::move(unconfirmed_.front().for_log));
    }
    if (!unconfirmed_.empty()) return;
    committed_to_.clear();
    if (memory_ != nullptr) memory_->SetUnlogged(false);
  }
  bool HasUnconfirmed() const override { return !unconfirmed_.empty(); }

  Status OnInitialize(const ipc::InvokeMethod& invoke, PassingFrame&& frame, FrameSocket& service) {
    RS_ASSIGN_OR_RETURN(const auto init, Decode<ipc::InitializeConnection>(invoke.args));
    wants_scraping_ = init.scraping_mode == ipc::kScrapingEnabled;
    if (!connected_) {
      connected_ = true;
      if (++recording_.last_producer == 0) ++recording_.last_producer;  // 0 is not used
      producer_ = ProducerId{recording_.last_producer};
      name_ = init.producer_name;
      recording_.connected.insert(name_);
      ProducerConnected record{.producer = producer_, .uid = peer().uid, .pid = peer().pid};
      record.seen_uid = ::geteuid();
      record.seen_pid = ::getpid();
      record.name = name_;
      if (init.scraping_mode != 0) record.scraping = static_cast<uint32_t>(init.scraping_mode);
      if (init.size_hint != 0) record.smb_size_hint = init.size_hint;
      if (init.page_size_hint != 0) record.page_size_hint = init.page_size_hint;
      record.sdk = init.sdk_version;
      recording_.log.Append(std::move(record));
    }
    if (init.provides_shared_memory && !frame.fds.empty()) {
      // The service uses it or makes another, as its reply shows.
      const auto hint = static_cast<size_t>(init.page_size_hint);
      RS_RETURN_IF_ERROR(
          UseMemory(frame.fds.front(), smb::IsPageSize(hint) ? hint : smb::kMinPageBytes));
    }
    std::string edited;
    if (wants_scraping_) {  // if a field occurs twice, the last one counts
      std::string args(wire::AsText(invoke.args));
      wire::AppendUint(args, proto::InitializeConnectionRequest::kSmbScrapingMode,
                       ipc::kScrapingDisabled);
      ipc::AppendWithArgs(edited, frame.frame, wire::AsBytes(args));
      frame.frame.whole = wire::AsBytes(edited);
    }
    service.Queue(std::move(frame));
    return {};
  }

  Status OnCommit(const ipc::InvokeMethod& invoke, PassingFrame&& frame, FrameSocket& service) {
    const std::optional<uint64_t> flush = FlushIn(invoke.args);
    if (!flush) {
      RS_RETURN_IF_ERROR(TakeCommit(invoke.args));
      const bool is_own = !IsAlone() && invoke.drop_reply && invoke.args.size() <= kMaxAddedBytes;
      if (!is_own) service.Queue(std::move(frame));
      Send(is_own ? invoke.args : Bytes(), commit_.for_log(), commit_.origin(), service);
      return {};
    }
    std::string edited, rest;
    CommitRequestBuilder(rest).SetFlushRequestId(*flush);
    if (wire::AsText(invoke.args) != rest) {  // its chunks were sent before
      ipc::AppendWithArgs(edited, frame.frame, wire::AsBytes(rest));
      frame.frame.whole = wire::AsBytes(edited);
    }
    service.Queue(std::move(frame));
    recording_.log.Append(FlushAcknowledged{producer_, *flush});
    // The service clones in a task of its own: what follows must not overtake that.
    if (recording_.flushes.IsCloning(targets_)) Take(Step::kFill);
    recording_.flushes.OnAcknowledged(producer_, *flush);
    return {};
  }

  /// Logs a request that concerns data sources, writers or triggers.
  Status LogRequest(ipc::MethodName method, Bytes args) {
    using enum ipc::MethodName;
    if (method == kRegisterDataSource || method == kUpdateDataSource) {
      RS_ASSIGN_OR_RETURN(const auto request, Decode<ipc::RegisterDataSource>(args));
      const ipc::DataSourceDescriptor& descriptor = request.descriptor;
      no_flush_[descriptor.name] = descriptor.no_flush;
      recording_.log.Append(
          DataSourceRegistered{.producer = producer_,
                               .name = descriptor.name,
                               .no_flush = descriptor.no_flush,
                               .will_notify_on_start = descriptor.will_notify_on_start,
                               .will_notify_on_stop = descriptor.will_notify_on_stop,
                               .handles_state_clear = descriptor.handles_state_clear,
                               .protovm_program = descriptor.protovm_program});
    } else if (method == kUnregisterDataSource) {
      RS_ASSIGN_OR_RETURN(const auto request, Decode<ipc::UnregisterDataSource>(args));
      no_flush_.erase(request.name);
      recording_.log.Append(DataSourceUnregistered{.producer = producer_, .name = request.name});
    } else if (method == kRegisterTraceWriter) {
      RS_ASSIGN_OR_RETURN(const auto request, Decode<ipc::RegisterTraceWriter>(args));
      const WriterId writer = CutToWriterId(request.writer);
      const BufferId buffer = CutToBufferId(request.target_buffer);
      if (writers_.insert_or_assign(writer, buffer).second) ++recording_.counts.sequences;
      if (memory_ != nullptr) memory_->OnNewWriter(writer);
      if (std::set<BufferId> targets = targets_; targets.insert(buffer).second)
        SetTargets(std::move(targets));
      recording_.log.Append(
          WriterRegistered{.producer = producer_, .writer = writer, .buffer = buffer});
    } else if (method == kUnregisterTraceWriter) {
      RS_ASSIGN_OR_RETURN(const auto request, Decode<ipc::RegisterTraceWriter>(args));
      writers_.erase(CutToWriterId(request.writer));
      recording_.log.Append(
          WriterUnregistered{.producer = producer_, .writer = CutToWriterId(request.writer)});
    } else if (method == kNotifyDataSourceStarted || method == kNotifyDataSourceStopped) {
      RS_ASSIGN_OR_RETURN(const auto notification, Decode<ipc::NotifyDataSource>(args));
      recording_.log.Append(DataSourceNotified{.producer = producer_,
                                               .instance = notification.instance,
                                               .stopped = method == kNotifyDataSourceStopped});
    } else if (method == kActivateTriggers) {
      RS_ASSIGN_OR_RETURN(const auto triggers, Decode<ipc::ActivateTriggers>(args));
      for (const std::string& name : triggers.names)
        recording_.log.Append(TriggerActivated{.producer = producer_, .name = name});
    }
    return {};
  }

  Status OnCommand(Bytes reply, const PassingFrame& frame) {
    RS_ASSIGN_OR_RETURN(const auto command, Decode<ipc::AsyncCommand>(reply));
    if (command.setup_tracing && !frame.fds.empty()) {
      const uint64_t kb = command.setup_tracing->page_size_kb;
      if (kb > smb::kMaxPageBytes || !smb::IsPageSize(kb * kBytesPerKb))
        return Fail(ErrorCode::kCorrupt,
                    fmt::format("sent shared memory with pages of {} KiB", kb));
      RS_RETURN_IF_ERROR(UseMemory(frame.fds.front(), static_cast<size_t>(kb) * kBytesPerKb));
    }
    if (command.set_up) OnInstance(*command.set_up, reply);
    if (command.start) {
      OnInstance(*command.start, reply);
      const auto instance = recording_.instances.find({producer_, command.start->instance});
      if (instance != recording_.instances.end() && instance->second.session)
        recording_.buffers.MarkStarted(*instance->second.session);
      recording_.log.Append(
          DataSourceStarted{.producer = producer_, .instance = command.start->instance});
    }
    if (command.flush) OnFlush(*command.flush);
    if (command.clear_state) {
      recording_.log.Append(
          StateClearRequested{.producer = producer_, .instances = command.clear_state->instances});
    }
    if (command.stop) {
      recording_.instances.erase({producer_, command.stop->instance});
      recording_.log.Append(
          DataSourceStopped{.producer = producer_, .instance = command.stop->instance});
    }
    return {};
  }

  void OnInstance(const ipc::DataSourceInstance& instance, Bytes command) {
    const std::pair key(producer_, instance.instance);
    if (recording_.instances.contains(key)) return;  // set up before it was started
    const BufferId target = CutToBufferId(instance.config.target_buffer);
    std::set<BufferId> targets = targets_;
    std::erase_if(targets, [this](BufferId id) { return recording_.buffers.IsFreed(id); });
    targets.insert(target);
    SetTargets(std::move(targets));
    const auto session =
        recording_.buffers.OnTarget({.data_source = instance.config.name,
                                     .buffer = target,
                                     .service_session = instance.config.tracing_session_id,
                                     .own = OwnFieldsOf(ipc::DataSourceConfigOf(command))});
    const auto no_flush = no_flush_.find(instance.config.name);
    recording_.instances[key] = {.session = session,
                                 .target = target,
                                 .flushes = no_flush == no_flush_.end() || !no_flush->second};
    recording_.log.Append(
        DataSourceSetUp{.producer = producer_,
                        .instance = instance.instance,
                        .name = instance.config.name,
                        .target_buffer = target,
                        .session = session,
                        .config = std::string(wire::AsText(ipc::DataSourceConfigOf(command)))});
  }
  void OnFlush(const ipc::FlushCommand& flush) {
    // The service scrapes all producers when those that it asked have acknowledged.
    if (!WantsScrape() && flush.request_id != recording_.last_flush) {
      recording_.last_flush = flush.request_id;
      recording_.turns.ScrapeUnasked();
    }
    const FlushRequested record{.flush = flush.request_id,
                                .producer = producer_,
                                .instances = flush.instances,
                                .flags = flush.flags};
    recording_.log.Append(record);
    recording_.flushes.OnRequested(record);
  }
  Status UseMemory(const UniqueFd& fd, size_t page_bytes) {
    RS_ASSIGN_OR_RETURN(auto shared, SharedMemory::Open(fd));
    watch_.reset();
    memory_ = std::make_unique<ProducerMemory>(std::move(shared), page_bytes);
    recording_.log.Append(SharedMemorySetUp{.producer = producer_,
                                            .size = memory_->size(),
                                            .page_size = page_bytes,
                                            .direct_patching = may_patch_directly_});
    if (recording_.looks)
      watch_.emplace(*memory_, producer_, recording_.log, recording_.loop, recording_.looks_from);
    return {};
  }

  /// Returns true if nothing else that commits to its buffers or reads them can be under way.
  bool IsAlone() const {
    if (!targets_.empty()) return !recording_.IsShared(targets_);
    return recording_.connected.size() < 2 && !recording_.files.any() &&
           recording_.read_freely.empty();
  }
  void SetTargets(std::set<BufferId> targets) {
    Replace(recording_.writers, targets_, std::move(targets));
  }

  /// Returns true for a commit that can be sent as a part of another, and has no effect at once.
  bool MayCollect(const ipc::Frame& frame) const {
    if (IsAlone() || MethodOf(frame) != ipc::MethodName::kCommitData) return false;
    const auto& invoke = std::get<ipc::InvokeMethod>(frame.body);
    if (!invoke.drop_reply || invoke.args.size() > kMaxCollectedBytes) return false;
    return !FlushIn(invoke.args);
  }

  struct UnconfirmedCommit {
    std::string request;  // until it is sent
    std::string for_log;
    Origin origin = Origin::kShm;
  };
  void AddUnconfirmed(Bytes request, Bytes for_log, Origin origin) {
    unconfirmed_.push_back(
        {std::string(wire::AsText(request)), recording_.spare_texts.Take(), origin});
    unconfirmed_.back().for_log = wire::AsText(for_log);
    if (memory_ != nullptr) memory_->SetUnlogged(true);
  }
  void LogCommit(Bytes request, Origin origin) {
    if (!request.empty())
      recording_.log.Append(Commit{.producer = producer_, .origin = origin, .request = request});
  }
  /// Sends a commit and logs it: at once if no other client can have an effect on its buffers, else
  /// at the turn's end and when the service has confirmed it.
  /// @param request empty: it was forwarded as it was
  void Send(Bytes request, Bytes for_log, Origin origin, FrameSocket& service) {
    if (!IsAlone() || !unconfirmed_.empty()) {
      AddUnconfirmed(request, for_log, origin);
      return Take(Step::kFill);
    }
    if (!request.empty())
      Invoke(ipc::MethodName::kCommitData, request, /*drop_reply=*/true, service);
    LogCommit(for_log, origin);
    Take(Step::kPass);
  }

  /// Takes what a commit has in shared memory, and counts it, before it is sent. kCorrupt: it is
  /// not well-formed.
  Status TakeCommit(Bytes request) {
    if (watch_) watch_->LookIfDue();
    RS_RETURN_IF_ERROR(commit_.Read(request, memory_.get()));
    return CountCommit(commit_.for_log());
  }

  Status CountCommit(Bytes request) {
    if (!parser_.Parse(request))
      return Fail(ErrorCode::kCorrupt, "sent a commit that is not well-formed protobuf");
    for (const ChunkToMove& chunk : parser_.chunks()) {
      const BufferId target = TargetBufferOf(chunk.target_buffer);
      NoteTarget(target);
      if (!chunk.data) continue;  // the service skips it, too
      LookForLoss(*chunk.data);
      ++recording_.counts.chunks;
      recording_.counts.chunk_bytes += chunk.data->size();
      recording_.buffers.CountChunk(target);
    }
    for (const ChunkToPatch& patch : parser_.patches())
      NoteTarget(TargetBufferOf(patch.target_buffer));
    return {};
  }
  /// Marks the log if a writer lost packets while the producer was held back.
  void LookForLoss(Bytes chunk) {
    if (chunks_after_hold_ == 0) return;
    --chunks_after_hold_;
    const auto header = ParseChunkHeader(chunk);
    if (!header || !ShowsLoss(*header, chunk.subspan(kChunkHeaderSize))) return;
    chunks_after_hold_ = 0;
    const auto ns = static_cast<uint64_t>(held_.count());
    recording_.log.MarkInexact(
        {.reason = InexactReason::kHeld,
         .producer = producer_,
         .detail = fmt::format("{} waited {} and lost packets", Describe(), HumanDuration(ns)),
         .held_ns = ns});
  }

  /// A commit to this buffer is about to be sent.
  void NoteTarget(BufferId target) {
    recording_.flushes.OnPassed(target);
    committed_to_.insert(target);
  }

  /// Scrapes, and sends what is found.
  void SendScraped(ProducerMemory::Scrape which, FrameSocket& service) {
    if (!wants_scraping_ || memory_ == nullptr) return;
    std::string data;
    std::vector<smb::FoundChunk> chunks = memory_->ScrapeChunks(writers_, which, data);
    std::erase_if(chunks, [this](const smb::FoundChunk& chunk) {
      return recording_.buffers.IsFreed(writers_.at(chunk.header.writer));
    });
    for (size_t next = 0; next < chunks.size();) {
      std::string request;
      CommitRequestBuilder builder(request);
      do {
        const smb::FoundChunk& chunk = chunks[next++];
        builder.AddChunk({.page = chunk.place.page,
                          .index = chunk.place.chunk,
                          .target_buffer = Raw(writers_.at(chunk.header.writer)),
                          .data = wire::AsBytes(data).subspan(chunk.offset, chunk.bytes),
                          .incomplete = !chunk.complete});
      } while (next < chunks.size() && request.size() + chunks[next].bytes <= kMaxAddedBytes);
      const Bytes commit = wire::AsBytes(request);
      static_cast<void>(CountCommit(commit));
      Send(commit, commit, Origin::kScraped, service);
    }
  }

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
  std::set<BufferId> committed_to_;       // by what is not confirmed
  CommitReader commit_;
  CommitRequestParser parser_;
  std::deque<UnconfirmedCommit> unconfirmed_;  // the first is sent, or all wait
  bool is_scraped_ = false;                    // for the last time
  std::chrono::nanoseconds held_{};            // for the last time while the memory was full
  uint64_t chunks_after_hold_ = 0;             // that are still looked at
};

}  // namespace

std::unique_ptr<Tap> NewProducerTap(RecordingState& recording, PeerIdentity peer) {
  return std::make_unique<ProducerTap>(recording, peer);
}

}  // namespace ringscope
