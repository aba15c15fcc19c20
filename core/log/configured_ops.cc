#include "core/log/configured_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/lookup.h"
#include "core/perfetto/fragment.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope {
namespace {

/// Returns the id that is so many after another one.
BufferId Following(BufferId id, uint32_t steps) {
  return BufferId{static_cast<uint16_t>(Raw(id) + steps)};
}

std::string BufferPath(uint64_t index) { return fmt::format("buffers[{}]", index); }

BufferSetUp SetUpAs(const ConfiguredBuffer& buffer, BufferId id, uint32_t index) {
  return {.id = id,
          .index = index,
          .size = buffer.size_kb * 1024,
          .policy = buffer.policy,
          .engine = buffer.engine()};
}

}  // namespace

bool ReadsDiffer(const TraceConfigFacts& config, const TraceConfigFacts& other) {
  if (config.write_into_file != other.write_into_file) return true;
  return config.write_into_file && config.PeriodNs() != other.PeriodNs();
}

Status ConfiguredOps::ChangeConfig(TraceConfigRecord& record) {
  if (config_.config.empty() || IsOther(record.session)) return {};
  before_ = ReadTraceConfigFacts(wire::AsBytes(record.config));
  if (config_.expects_same_reads && ReadsDiffer(*before_, facts_))
    return Fail(ErrorCode::kUsage,
                "the trace config reads the buffers at other times than the session, which is "
                "not known of what can be read only once",
                {}, "name a file, or choose the reads with --reads");
  record.config = config_.config;
  has_config_ = true;
  return {};
}

bool ConfiguredOps::SetUp(BufferSetUp& setup) {
  PutConfig(setup.session);
  if (IsOther(setup.session)) return true;
  if (is_set_up_) {
    const auto added = std::ranges::find(added_, setup.id);
    if (added == added_.end()) return true;
    const auto id = std::ranges::find_if(ids_, [&](auto& each) { return each.second == setup.id; });
    setup.index = id->first;
    setups_.push_back(setup);
    added_.erase(added);  // the log frees it itself
    return false;
  }
  const uint32_t index = setup.index.value_or(static_cast<uint32_t>(setups_.size()));
  setup.index = index;
  setups_.push_back(setup);
  if (config_.config.empty()) return true;
  if (index >= facts_.buffers.size()) return false;
  const ConfiguredBuffer& wanted = facts_.buffers[index];
  // Settings that the config does not change keep the log's values.
  const ConfiguredBuffer* const had =
      before_ && index < before_->buffers.size() ? &before_->buffers[index] : nullptr;
  const uint64_t had_kb = had != nullptr ? had->size_kb : (setup.size + 1023) / 1024;
  if (had_kb != wanted.size_kb) setup.size = wanted.size_kb * 1024;
  if (had == nullptr || had->policy != wanted.policy) setup.policy = wanted.policy;
  if (had == nullptr ? !setup.engine.starts_with(wanted.engine()) : had->is_v2 != wanted.is_v2)
    setup.engine = wanted.engine();
  ids_[index] = setup.id;
  return true;
}

Status ConfiguredOps::EndSetUp() {
  is_set_up_ = true;
  if (config_.config.empty()) return {};
  if (!before_ && setups_.size() != facts_.buffers.size())
    return Fail(ErrorCode::kUsage,
                fmt::format("the trace config has {} buffers and the session {}, whose log does "
                            "not show which data source writes to which buffer",
                            facts_.buffers.size(), setups_.size()),
                {}, "give each buffer of the session a size in the config");
  BufferId last = std::ranges::max(setups_, {}, &BufferSetUp::id).id;
  for (uint32_t index = 0; index < facts_.buffers.size(); ++index) {
    if (ids_.contains(index)) continue;
    // The service numbers a session's buffers in their order. A live log has each before the first
    // data source that writes to it.
    BufferId id = Following(setups_.front().id, index - *setups_.front().index);
    if (Contains(setups_, id, &BufferSetUp::id)) id = Following(last, 1);
    last = std::max(last, id);
    ids_[index] = id;
    added_.push_back(id);
    BufferSetUp setup = SetUpAs(facts_.buffers[index], id, index);
    setup.session = session_;
    Put(std::move(setup));
  }
  return {};
}

void ConfiguredOps::SetUpUnrecorded(const Commit& commit) {
  is_set_up_ = true;
  static_cast<void>(parser_.Parse(commit.request));
  for (const ChunkToMove& chunk : parser_.chunks())
    if (chunk.target_buffer && *chunk.target_buffer <= UINT16_MAX) {
      const BufferId id = TargetBufferOf(chunk.target_buffer);
      lowest_ = std::min(lowest_.value_or(id), id);
    }
  PutConfig({});
  std::map<BufferId, BufferSetUp> setups;
  const auto id_of = [&](uint32_t index) {
    return Following(lowest_.value_or(BufferId{1}), index);
  };
  for (uint32_t i = 0; i < facts_.buffers.size(); ++i)
    setups[id_of(i)] = SetUpAs(facts_.buffers[i], id_of(i), i);
  for (const auto& [key, size] : config_.sizes) {
    const BufferId id =
        key.is_index ? id_of(key.number) : BufferId{static_cast<uint16_t>(key.number)};
    setups.try_emplace(id, BufferSetUp{.id = id, .index = {}, .size = size, .engine = {}});
  }
  for (auto& [id, setup] : setups) Put(std::move(setup));
}

Status ConfiguredOps::ChangeTarget(DataSourceSetUp& setup) {
  const BufferSetUp* const meant = FindBy(setups_, setup.target_buffer, &BufferSetUp::id);
  if (!before_ || meant == nullptr) return {};
  // Sources of one name are distinguished by their order in the config.
  std::set<uint64_t> targets;
  size_t of_name = 0;
  for (const ConfiguredSource& had : before_->sources) {
    if (had.name != setup.name) continue;
    size_t left = of_name++;
    if (had.target_buffer != *meant->index) continue;
    for (const ConfiguredSource& wanted : facts_.sources)
      if (wanted.name == setup.name && left-- == 0) targets.insert(wanted.target_buffer);
  }
  if (of_name == 0) return {};  // the session's own config does not have it either
  if (targets.empty())
    return Fail(ErrorCode::kUsage,
                fmt::format("the trace config has no data source '{}' for what the session has of "
                            "it in {}",
                            setup.name, BufferPath(*meant->index)),
                {}, "leave the session's data sources in the config");
  const BufferId* const id = FindIn(ids_, static_cast<uint32_t>(*targets.begin()));
  if (id == nullptr)
    return Fail(ErrorCode::kUsage,
                fmt::format("the data source '{}' targets {}, which the trace config does not have",
                            setup.name, BufferPath(*targets.begin())),
                {}, fmt::format("give it a target_buffer below {}", facts_.buffers.size()));
  auto& moves = setup.name == kFtraceSource ? ftrace_moves_ : moves_;
  const auto [move, is_new] = moves.try_emplace({setup.producer, setup.target_buffer}, *id);
  if (targets.size() > 1 || move->second != *id)
    return Fail(ErrorCode::kUsage,
                fmt::format("the trace config moves only some of what producer {} writes to {}, "
                            "and the log does not show which chunks are of which data source",
                            Raw(setup.producer), BufferPath(*meant->index)),
                {}, "move all data sources of that producer and buffer together");
  setup.target_buffer = *id;
  return {};
}

BufferId ConfiguredOps::TargetOf(SequenceKey writer, BufferId meant) const {
  const BufferId* const ftrace = FindIn(ftrace_moves_, {writer.producer, meant});
  const BufferId* const move = FindIn(moves_, {writer.producer, meant});
  const bool* const is_ftrace = FindIn(is_ftrace_, writer);
  if (ftrace != nullptr && (move == nullptr || (is_ftrace != nullptr && *is_ftrace)))
    return *ftrace;
  return move == nullptr ? meant : *move;
}

void ConfiguredOps::NoteWriter(const ChunkCommit& chunk) {
  const SequenceKey writer = chunk.sequence;
  const auto packet = BodyAt(chunk.payload, 0);
  if (ftrace_moves_.empty() || is_ftrace_.contains(writer) || !packet ||
      (chunk.flags & kFirstContinues) != 0)
    return;
  is_ftrace_[writer] = ReadPacketFacts(*packet).content == proto::TracePacket::kFtraceEvents;
  if (const BufferId* const meant = FindIn(registered_, writer))
    Put(WriterRegistered{writer.producer, writer.writer, TargetOf(writer, *meant)});
}

void ConfiguredOps::MoveChunks(Commit& commit) {
  const auto moves = [&](const auto& all) {
    return std::ranges::any_of(all, [&](const auto& move) {
      return move.first.first == commit.producer && move.first.second != move.second;
    });
  };
  if (!(moves(moves_) || moves(ftrace_moves_)) || !parser_.Parse(commit.request))
    return;  // is refused as a whole
  request_.clear();
  CommitRequestBuilder builder(request_);
  for (ChunkToMove chunk : parser_.chunks()) {
    SequenceKey writer{commit.producer, {}};
    if (const auto written = ToChunkCommit(commit.producer, chunk)) {
      writer = written->sequence;
      NoteWriter(*written);
    }
    chunk.target_buffer = Raw(TargetOf(writer, TargetBufferOf(chunk.target_buffer)));
    builder.AddChunk(chunk);
  }
  for (ChunkToPatch patch : parser_.patches()) {
    patch.target_buffer =
        Raw(TargetOf(patch.NameFor(commit.producer).sequence, TargetBufferOf(patch.target_buffer)));
    builder.AddPatch(patch);
  }
  if (const auto flush = parser_.flush_request_id()) builder.SetFlushRequestId(*flush);
  commit.request = wire::AsBytes(request_);
}

template <typename Record, typename Id>
void ConfiguredOps::PutForBuffers(Record record, Id Record::*member) {
  const std::optional<BufferId> buffer = record.*member;
  const auto of = buffer ? std::ranges::find(setups_, *buffer, &BufferSetUp::id) : setups_.end();
  const bool is_known = of != setups_.end() && !config_.config.empty();
  if (!is_known || ids_.contains(*of->index)) Put(record);
  if (!is_known || of != setups_.begin()) return;
  for (const BufferId id : added_) {
    record.*member = id;
    Put(record);
  }
}

Status ConfiguredOps::Change(Op op) {
  time_ns_ = op.time_ns;
  const bool sets_up = op.body.Is<TraceConfigRecord, BufferSetUp>();
  if (!sets_up && !setups_.empty() && !is_set_up_) RS_RETURN_IF_ERROR(EndSetUp());
  Status status;
  bool keeps = true;
  const auto put_for_buffers = [&](auto& record, auto member) {
    PutForBuffers(record, member);
    keeps = false;
  };
  VisitRecord(
      op.body, [&](TraceConfigRecord& record) { status = ChangeConfig(record); },
      [&](BufferSetUp& setup) { keeps = SetUp(setup); },
      [&](Commit& commit) {
        if (!is_set_up_) SetUpUnrecorded(commit);
        MoveChunks(commit);
      },
      [&](WriterRegistered& writer) {
        const SequenceKey key{writer.producer, writer.writer};
        lowest_ = std::min(lowest_.value_or(writer.buffer), writer.buffer);
        registered_[key] = writer.buffer;
        writer.buffer = TargetOf(key, writer.buffer);
      },
      [&](DataSourceSetUp& source) { status = ChangeTarget(source); },
      [&](BufferFreed& freed) { put_for_buffers(freed, &BufferFreed::id); },
      [&](ReadPass& read) { put_for_buffers(read, &ReadPass::buffer); },
      [&](CloneRead& clone) { put_for_buffers(clone, &CloneRead::buffer); },
      [&](BufferCloned& cloned) { put_for_buffers(cloned, &BufferCloned::buffer); },
      [&](BufferCleared& cleared) { put_for_buffers(cleared, &BufferCleared::buffer); });
  if (status && keeps) Add(std::move(op));
  return status;
}

}  // namespace ringscope
