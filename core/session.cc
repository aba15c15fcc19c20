#include "core/session.h"

#include <fmt/format.h>

#include "core/place_finder.h"
#include "core/session_errors.h"
#include "core/trusted_fields.h"

namespace ringscope {
namespace {

// Limits of the service. Source: Perfetto's tracing service, as observed.
constexpr uint64_t kMaxWriterId = 32767;
constexpr size_t kMaxPatchesPerChunk = 1024;

/// Patches that a log may make us hold while a request's parts come in. A frame of the producer's
/// socket has at most 128 KiB, so that no real request comes near.
constexpr size_t kMaxHeldPatches = size_t{1} << 20;

BufferId CutToBufferId(std::optional<uint64_t> id) {
  return BufferId{static_cast<uint16_t>(id.value_or(0))};
}

}  // namespace

const char* Name(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNoSharedMemory:
      return "no_shared_memory";
    case Refusal::kNoSuchPage:
      return "no_such_page";
    case Refusal::kNoSuchBuffer:
      return "no_such_buffer";
    case Refusal::kMayNotWrite:
      return "may_not_write";
  }
  return "";
}

Status Session::Apply(const Op& op) {
  return std::visit(
      Overloaded{
          [&](const BufferSetUp& setup) { return SetUpBuffer(setup); },
          [&](const BufferFreed& freed) -> Status {
            if (SessionBuffer* buffer = FindOpenBuffer(freed.id)) buffer->freed = true;
            for (auto& [id, producer] : producers_) producer.may_write.erase(freed.id);
            return {};
          },
          [&](const ProducerConnected& connected) -> Status {
            ConnectProducer(connected);
            return {};
          },
          [&](const SharedMemorySetUp& setup) -> Status {
            knows_shared_memory_ = true;
            Producer& producer = producers_[setup.producer];
            producer.has_shared_memory = true;
            if (setup.page_size > 0) producer.smb_pages = setup.size / setup.page_size;
            return {};
          },
          [&](const ProducerDisconnected& gone) -> Status {
            DisconnectProducer(gone.producer);
            return {};
          },
          [&](const DataSourceSetUp& setup) -> Status {
            knows_data_sources_ = true;
            producers_[setup.producer].may_write.insert(setup.target_buffer);
            return {};
          },
          [&](const WriterRegistered& writer) -> Status {
            producers_[writer.producer].writers.insert_or_assign(writer.writer, writer.buffer);
            return {};
          },
          [&](const WriterUnregistered& writer) -> Status {
            producers_[writer.producer].writers.erase(writer.writer);
            return {};
          },
          [&](const Commit& commit) { return ApplyCommit(commit); },
          [&](const FlushRequested& flush) -> Status {
            CountFlush(flush.flush);
            return {};
          },
          [&](const FlushAcknowledged& flush) -> Status {
            CountFlush(flush.flush);
            return {};
          },
          [&](const FlushTimedOut& flush) -> Status {
            CountFlush(flush.flush);
            ++stats_.flushes_failed;
            stats_.flushes_succeeded -= stats_.flushes_succeeded > 0;
            return {};
          },
          // The others change nothing in the service; reads are the caller's to ask for.
          [](const auto&) -> Status { return {}; },
      },
      op.body);
}

Status Session::SetUpBuffer(const BufferSetUp& setup) {
  BufferChoice choice = options_.all;
  if (const auto own = options_.buffers.find(setup.id); own != options_.buffers.end()) {
    if (own->second.engine) choice.engine = own->second.engine;
    if (own->second.size) choice.size = own->second.size;
    if (own->second.policy) choice.policy = own->second.policy;
  }
  const bool chosen = choice.engine.has_value();
  const std::string name =
      choice.engine.value_or(setup.engine.empty() ? kDefaultEngine : setup.engine);
  auto info = chosen ? options_.find_engine(name) : FindEngine(name);
  if (!info) {
    Error error = std::move(info).error();
    if (!chosen) {
      error.code = ErrorCode::kUnsupported;
      error.message = fmt::format(
          "buffer {} was recorded with engine '{}', which this build does "
          "not have",
          Raw(setup.id), name);
      error.hint = "choose another with --engine; `ringscope engines` lists them";
    }
    return tl::unexpected<Error>(std::move(error));
  }

  SessionBuffer buffer;
  buffer.id = setup.id;
  buffer.index = setup.index.value_or(buffers_set_up_);
  buffer.requested_size = choice.size.value_or(setup.size);
  buffer.policy = choice.policy.value_or(setup.policy);
  buffer.info = *info;
  EngineConfig config{.size = buffer.requested_size, .policy = buffer.policy};
  if (options_.observe) config.observer = options_.observe(setup.id);
  auto engine = options_.make_engine ? options_.make_engine(**info, config, setup.id)
                                     : CreateWithPlaces(**info, config);
  if (!engine) {
    Error error = std::move(engine).error();
    if (choice.size) error.code = ErrorCode::kUsage;  // the caller's own choice
    if (error.hint.empty()) error.hint = "choose another size with --size";
    return InBuffer(setup.id, std::move(error));
  }
  buffer.engine = std::move(*engine);
  if (const auto old = buffers_.find(setup.id); old != buffers_.end())
    sink_.OnBufferReplaced(old->second);
  if (FindOpenBuffer(setup.id) != nullptr)
    WarnOnce("again", fmt::format("buffer {} is set up again without being freed: what it held is "
                                  "dropped",
                                  Raw(setup.id)));
  sink_.OnBufferSetUp(buffers_.insert_or_assign(setup.id, std::move(buffer)).first->second);
  ++buffers_set_up_;
  stats_.total_buffers = buffers_.size();
  return {};
}

void Session::ConnectProducer(const ProducerConnected& connected) {
  knows_producers_ = true;
  Producer producer;
  producer.identity = {connected.uid, connected.pid};
  if (connected.smb_size) {
    knows_shared_memory_ = true;
    producer.has_shared_memory = true;
    if (connected.page_size.value_or(0) > 0)
      producer.smb_pages = *connected.smb_size / *connected.page_size;
  }
  producers_.insert_or_assign(connected.producer, std::move(producer));
  ++stats_.producers_seen;
  ++stats_.producers_connected;
}

void Session::DisconnectProducer(ProducerId id) {
  held_.erase(id);
  const auto producer = producers_.find(id);
  if (producer == producers_.end() || !producer->second.connected) return;
  producer->second.connected = false;
  stats_.producers_connected -= stats_.producers_connected > 0;
}

void Session::CountFlush(uint64_t flush) {
  // Ids ascend; several producers acknowledge the same one. A log without requests (the recorder
  // saw only acknowledgements) still tells how many there were.
  if (last_flush_ && flush <= *last_flush_) return;
  last_flush_ = flush;
  ++stats_.flushes_requested;
  ++stats_.flushes_succeeded;
}

Status Session::ApplyCommit(const Commit& commit) {
  const auto found = producers_.find(commit.producer);
  const bool connected = found != producers_.end() && found->second.connected;
  const Producer* producer = connected ? &found->second : nullptr;
  if (knows_shared_memory_ && producer != nullptr && !producer->has_shared_memory) {
    WarnOnce("no_smb", fmt::format("a request of producer {} came before its shared memory was "
                                   "set up: ignored, as the service does",
                                   Raw(commit.producer)));
    RefuseRequest(commit);
    return {};
  }
  if (!parser_.Parse(commit.request)) {
    ++stats_.malformed_requests;
    WarnOnce("malformed", fmt::format("a commit of producer {} is no well-formed request: ignored",
                                      Raw(commit.producer)));
    return {};
  }
  for (const ChunkToMove& chunk : parser_.chunks())
    RS_RETURN_IF_ERROR(ApplyChunk(commit, producer, chunk));
  if (!commit.last) {
    HoldPatches(commit);
    return {};
  }
  if (!held_.empty()) RS_RETURN_IF_ERROR(ApplyHeldPatches(commit.producer));
  for (const ChunkToPatch& patch : parser_.patches())
    RS_RETURN_IF_ERROR(ApplyPatch(commit.producer, patch));
  return {};
}

void Session::HoldPatches(const Commit& commit) {
  if (parser_.patches().empty()) return;
  Held& held = held_[commit.producer];
  if (held.number != commit.number) held = {.number = commit.number, .patches = {}};
  CommitRequestBuilder builder(held.patches);
  for (const ChunkToPatch& patch : parser_.patches()) builder.AddPatch(patch);
  if (held.patches.size() <= kMaxHeldPatches) return;
  WarnOnce("held", fmt::format("a request of producer {} has more than {} bytes of patches and no "
                               "last part: its patches are dropped",
                               Raw(commit.producer), kMaxHeldPatches));
  held_.erase(commit.producer);
}

Status Session::ApplyHeldPatches(ProducerId producer) {
  auto held = held_.extract(producer);
  if (held.empty()) return {};
  CommitRequestParser parser;
  parser.Parse(wire::AsBytes(held.mapped().patches));
  for (const ChunkToPatch& patch : parser.patches())
    RS_RETURN_IF_ERROR(ApplyPatch(producer, patch));
  return {};
}

bool Session::MayWrite(const Producer* producer, BufferId buffer, WriterId writer) {
  if (producer == nullptr) return !knows_producers_;
  if (knows_data_sources_ && !producer->may_write.contains(buffer)) return false;
  const auto registered = producer->writers.find(writer);
  return registered == producer->writers.end() || registered->second == buffer;
}

namespace {

/// The chunk of a commit; nullopt where its data can not be one.
std::optional<ChunkCommit> ToChunkCommit(const Commit& commit, const ChunkToMove& chunk) {
  if (!chunk.data || chunk.data->size() > kMaxChunkData) return std::nullopt;
  const std::optional<ChunkHeader> header = ParseChunkHeader(*chunk.data);
  if (!header) return std::nullopt;
  return ChunkCommit{.sequence = {commit.producer, header->writer},
                     .identity = {},
                     .chunk = header->chunk,
                     .fragments = header->fragments,
                     .flags = header->flags,
                     .complete = !chunk.incomplete,
                     .payload = chunk.data->subspan(kChunkHeaderSize)};
}

}  // namespace

void Session::RefuseRequest(const Commit& commit) {
  if (!parser_.Parse(commit.request)) return;
  for (const ChunkToMove& chunk : parser_.chunks()) {
    if (const auto refused = ToChunkCommit(commit, chunk))
      sink_.OnChunk(CutToBufferId(chunk.target_buffer), *refused, Refusal::kNoSharedMemory);
  }
}

Status Session::ApplyChunk(const Commit& commit, const Producer* producer,
                           const ChunkToMove& chunk) {
  std::optional<ChunkCommit> incoming = ToChunkCommit(commit, chunk);
  if (!incoming) {
    ++stats_.skipped_chunks;
    WarnOnce("skipped",
             fmt::format("a chunk of producer {} has no data of 8 to 65535 bytes: skipped, as the "
                         "service does",
                         Raw(commit.producer)));
    return {};
  }
  const BufferId id = CutToBufferId(chunk.target_buffer);
  const auto refuse = [&](Refusal why) -> Status {
    sink_.OnChunk(id, *incoming, why);
    ++(why == Refusal::kNoSuchPage ? stats_.skipped_chunks : stats_.chunks_discarded);
    return {};
  };
  const bool page_exists = !chunk.page || producer == nullptr || !producer->smb_pages ||
                           commit.origin != Origin::kShm || *chunk.page < *producer->smb_pages;
  if (!page_exists) {
    WarnOnce("page", fmt::format("a chunk of producer {} has a page outside its shared memory: "
                                 "skipped, as the service does",
                                 Raw(commit.producer)));
    return refuse(Refusal::kNoSuchPage);
  }
  SessionBuffer* buffer = FindOpenBuffer(id);
  if (buffer == nullptr) {
    WarnOnce("unknown_buffer", fmt::format("producer {} commits to buffer {}, which is not set up: "
                                           "its chunks are discarded",
                                           Raw(commit.producer), Raw(id)));
    return refuse(Refusal::kNoSuchBuffer);
  }
  if (!MayWrite(producer, id, incoming->sequence.writer) || incoming->sequence == SequenceKey{})
    return refuse(Refusal::kMayNotWrite);
  if (producer != nullptr) incoming->identity = producer->identity;
  if (commit.uid) incoming->identity.uid = *commit.uid;
  if (commit.pid) incoming->identity.pid = *commit.pid;
  sink_.OnChunk(id, *incoming, std::nullopt);
  buffer->engine->Commit(*incoming);
  RS_RETURN_IF_ERROR(CheckEngine(id, *buffer->engine));
  sink_.OnChunkDone(id, *incoming);
  return {};
}

Status Session::ApplyPatch(ProducerId producer, const ChunkToPatch& patch) {
  const BufferId id = CutToBufferId(patch.target_buffer);
  SessionBuffer* buffer = FindOpenBuffer(id);
  const uint64_t writer = patch.writer.value_or(0);
  const bool refused =
      buffer == nullptr || (knows_producers_ && (writer == 0 || writer > kMaxWriterId ||
                                                 patch.patches.size() > kMaxPatchesPerChunk));
  if (refused) {
    stats_.patches_discarded += patch.patches.size();
    sink_.OnPatch(id, false);
    return {};
  }
  patches_.clear();
  for (const PatchSpan& span : patch.patches) {
    if (span.data.size() == kPatchSize)
      patches_.push_back({.offset = span.offset, .data = span.data.data()});
    else
      ++stats_.patches_discarded;
  }
  const bool applied = buffer->engine->ApplyPatches(
      {.sequence = {producer, WriterId{static_cast<uint16_t>(writer)}},
       .chunk = ChunkId{static_cast<uint32_t>(patch.chunk.value_or(0))},
       .patches = patches_,
       .more = patch.more});
  RS_RETURN_IF_ERROR(CheckEngine(id, *buffer->engine));
  sink_.OnPatch(id, applied);
  return {};
}

SessionBuffer* Session::FindOpenBuffer(BufferId id) {
  const auto buffer = buffers_.find(id);
  return buffer == buffers_.end() || buffer->second.freed ? nullptr : &buffer->second;
}

void Session::WarnOnce(const char* kind, const std::string& text) {
  if (warned_.insert(kind).second) sink_.OnWarning(text);
}

}  // namespace ringscope
