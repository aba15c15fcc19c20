#include "core/log/configured_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/perfetto/fragment.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope {
namespace {

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

void ConfiguredOps::AddConfig(const Op& before, std::optional<uint64_t> session) {
  if (config_.config.empty() || std::exchange(has_config_, true)) return;
  Add({before.time_ns, TraceConfigRecord{.config = config_.config, .session = session}});
}

void ConfiguredOps::SetUp(const Op& op, BufferSetUp setup) {
  const uint32_t index = setup.index.value_or(static_cast<uint32_t>(setups_.size()));
  setup.index = index;
  setups_.push_back(setup);
  if (config_.config.empty()) return Add({op.time_ns, setup});
  if (index >= facts_.buffers.size()) return;
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
  Add({op.time_ns, std::move(setup)});
}

Status ConfiguredOps::EndSetUp(const Op& next) {
  is_set_up_ = true;
  if (config_.config.empty()) return {};
  if (!before_ && setups_.size() != facts_.buffers.size())
    return Fail(ErrorCode::kUsage,
                fmt::format("the trace config has {} buffers and the session {}, whose log does "
                            "not show which data source writes to which buffer",
                            facts_.buffers.size(), setups_.size()),
                {}, "give each buffer of the session a size in the config");
  BufferId last{};
  for (const BufferSetUp& setup : setups_) last = std::max(last, setup.id);
  for (uint32_t index = 0; index < facts_.buffers.size(); ++index) {
    if (ids_.contains(index)) continue;
    // The service numbers a session's buffers in their order. A live log has each before the first
    // data source that writes to it.
    BufferId id{static_cast<uint16_t>(Raw(setups_.front().id) + index - *setups_.front().index)};
    if (std::ranges::count(setups_, id, &BufferSetUp::id) > 0)
      id = BufferId{static_cast<uint16_t>(Raw(last) + 1)};
    last = std::max(last, id);
    ids_[index] = id;
    added_.push_back(id);
    BufferSetUp setup = SetUpAs(facts_.buffers[index], id, index);
    setup.session = session_;
    Add({next.time_ns, std::move(setup)});
  }
  return {};
}

void ConfiguredOps::SetUpUnrecorded(const Op& commit) {
  is_set_up_ = true;
  static_cast<void>(parser_.Parse(std::get<Commit>(commit.body).request));
  for (const ChunkToMove& chunk : parser_.chunks())
    if (chunk.target_buffer && *chunk.target_buffer <= UINT16_MAX) {
      const BufferId id = TargetBufferOf(chunk.target_buffer);
      lowest_ = std::min(lowest_.value_or(id), id);
    }
  AddConfig(commit, {});
  std::map<BufferId, BufferSetUp> setups;
  const auto id_of = [&](uint32_t index) {
    return BufferId{static_cast<uint16_t>(Raw(lowest_.value_or(BufferId{1})) + index)};
  };
  for (uint32_t i = 0; i < facts_.buffers.size(); ++i)
    setups[id_of(i)] = SetUpAs(facts_.buffers[i], id_of(i), i);
  for (const auto& [key, size] : config_.sizes) {
    const BufferId id =
        key.is_index ? id_of(key.number) : BufferId{static_cast<uint16_t>(key.number)};
    setups.try_emplace(id, BufferSetUp{.id = id, .index = {}, .size = size, .engine = {}});
  }
  for (auto& [id, setup] : setups) Add({commit.time_ns, std::move(setup)});
}

Status ConfiguredOps::SetUpSource(const Op& op, DataSourceSetUp setup) {
  const auto meant = std::ranges::find(setups_, setup.target_buffer, &BufferSetUp::id);
  if (!before_ || meant == setups_.end()) {
    Add({op.time_ns, std::move(setup)});
    return {};
  }
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
  if (of_name == 0) {  // the session's own config does not have it either
    Add({op.time_ns, std::move(setup)});
    return {};
  }
  if (targets.empty())
    return Fail(ErrorCode::kUsage,
                fmt::format("the trace config has no data source '{}' for what the session has of "
                            "it in {}",
                            setup.name, BufferPath(*meant->index)),
                {}, "leave the session's data sources in the config");
  const auto id = ids_.find(static_cast<uint32_t>(*targets.begin()));
  if (id == ids_.end())
    return Fail(ErrorCode::kUsage,
                fmt::format("the data source '{}' targets {}, which the trace config does not have",
                            setup.name, BufferPath(*targets.begin())),
                {}, fmt::format("give it a target_buffer below {}", facts_.buffers.size()));
  auto& moves = setup.name == kFtraceSource ? ftrace_moves_ : moves_;
  const auto [move, is_new] = moves.try_emplace({setup.producer, setup.target_buffer}, id->second);
  if (targets.size() > 1 || move->second != id->second)
    return Fail(ErrorCode::kUsage,
                fmt::format("the trace config moves only some of what producer {} writes to {}, "
                            "and the log does not show which chunks are of which data source",
                            Raw(setup.producer), BufferPath(*meant->index)),
                {}, "move all data sources of that producer and buffer together");
  setup.target_buffer = id->second;
  Add({op.time_ns, std::move(setup)});
  return {};
}

BufferId ConfiguredOps::TargetOf(ProducerId producer, BufferId meant,
                                 std::optional<SequenceKey> writer) const {
  const auto ftrace = ftrace_moves_.find({producer, meant});
  const auto move = moves_.find({producer, meant});
  const auto known = writer ? is_ftrace_.find(*writer) : is_ftrace_.end();
  const bool is_ftrace = ftrace != ftrace_moves_.end() &&
                         (move == moves_.end() || (known != is_ftrace_.end() && known->second));
  if (is_ftrace) return ftrace->second;
  return move == moves_.end() ? meant : move->second;
}

void ConfiguredOps::NoteWriter(std::optional<uint64_t> time_ns, const ChunkCommit& chunk) {
  const SequenceKey writer = chunk.sequence;
  const auto packet = BodyAt(chunk.payload, 0);
  if (ftrace_moves_.empty() || is_ftrace_.contains(writer) || !packet ||
      (chunk.flags & kFirstContinues) != 0)
    return;
  is_ftrace_[writer] = ReadPacketFacts(*packet).content == proto::TracePacket::kFtraceEvents;
  if (const auto registered = registered_.find(writer); registered != registered_.end())
    Add({time_ns,
         WriterRegistered{.producer = writer.producer,
                          .writer = writer.writer,
                          .buffer = TargetOf(writer.producer, registered->second, writer)}});
}

void ConfiguredOps::MoveChunks(std::optional<uint64_t> time_ns, Commit& commit) {
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
    const auto written = ToChunkCommit(commit.producer, chunk);
    if (written) NoteWriter(time_ns, *written);
    chunk.target_buffer = Raw(TargetOf(commit.producer, TargetBufferOf(chunk.target_buffer),
                                       written ? std::optional(written->sequence) : std::nullopt));
    builder.AddChunk(chunk);
  }
  for (ChunkToPatch patch : parser_.patches()) {
    patch.target_buffer = Raw(TargetOf(commit.producer, TargetBufferOf(patch.target_buffer),
                                       patch.NameFor(commit.producer).sequence));
    builder.AddPatch(patch);
  }
  if (const auto flush = parser_.flush_request_id()) builder.SetFlushRequestId(*flush);
  commit.request = wire::AsBytes(request_);
}

template <typename Record, typename Id>
void ConfiguredOps::AddForBuffers(std::optional<uint64_t> time_ns, Record record,
                                  Id Record::*member) {
  const std::optional<BufferId> buffer = record.*member;
  const auto of = buffer ? std::ranges::find(setups_, *buffer, &BufferSetUp::id) : setups_.end();
  const bool is_known = of != setups_.end() && !config_.config.empty();
  if (!is_known || ids_.contains(*of->index)) Add({time_ns, record});
  if (!is_known || of != setups_.begin()) return;
  for (const BufferId id : added_) {
    record.*member = id;
    Add({time_ns, record});
  }
}

Status ConfiguredOps::Change(Op op) {
  // Other sessions of the log stay as they are.
  const auto is_other = [&](std::optional<uint64_t> session) {
    if (!session_) session_ = session;
    return session && session_ != session;
  };
  if (auto* record = std::get_if<TraceConfigRecord>(&op.body)) {
    if (!config_.config.empty() && !is_other(record->session)) {
      before_ = ReadTraceConfigFacts(wire::AsBytes(record->config));
      if (config_.expects_same_reads && ReadsDiffer(*before_, facts_))
        return Fail(ErrorCode::kUsage,
                    "the trace config reads the buffers at other times than the session, which is "
                    "not known of what can be read only once",
                    {}, "name a file, or choose the reads with --reads");
      record->config = config_.config;
      has_config_ = true;
    }
    Add(std::move(op));
    return {};
  }
  if (const auto* setup = std::get_if<BufferSetUp>(&op.body)) {
    AddConfig(op, setup->session);
    const auto added = std::ranges::find(added_, setup->id);
    if (is_other(setup->session) || (is_set_up_ && added == added_.end())) {
      Add(std::move(op));
    } else if (is_set_up_) {
      const auto is_it = [&](const auto& each) { return each.second == setup->id; };
      setups_.push_back(*setup);
      setups_.back().index = std::ranges::find_if(ids_, is_it)->first;
      added_.erase(added);  // the log frees it itself
    } else {
      SetUp(op, *setup);
    }
    return {};
  }
  if (!setups_.empty() && !is_set_up_) RS_RETURN_IF_ERROR(EndSetUp(op));
  const std::optional<uint64_t> time_ns = op.time_ns;
  Status status;
  std::visit(
      Overloaded{
          [&](Commit& commit) {
            if (!is_set_up_) SetUpUnrecorded(op);
            MoveChunks(time_ns, commit);
            Add(std::move(op));
          },
          [&](WriterRegistered& writer) {
            lowest_ = std::min(lowest_.value_or(writer.buffer), writer.buffer);
            registered_[{writer.producer, writer.writer}] = writer.buffer;
            writer.buffer = TargetOf(writer.producer, writer.buffer);
            Add(std::move(op));
          },
          [&](DataSourceSetUp& setup) { status = SetUpSource(op, std::move(setup)); },
          [&](BufferFreed& freed) { AddForBuffers(time_ns, freed, &BufferFreed::id); },
          [&](ReadPass& read) { AddForBuffers(time_ns, read, &ReadPass::buffer); },
          [&](CloneRead& clone) { AddForBuffers(time_ns, clone, &CloneRead::buffer); },
          [&](BufferCloned& cloned) { AddForBuffers(time_ns, cloned, &BufferCloned::buffer); },
          [&](BufferCleared& cleared) { AddForBuffers(time_ns, cleared, &BufferCleared::buffer); },
          [&](auto&) { Add(std::move(op)); },
      },
      op.body);
  return status;
}

}  // namespace ringscope
