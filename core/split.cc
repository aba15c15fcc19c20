#include "core/split.h"

#include <algorithm>

#include "core/wire.h"

namespace ringscope {
namespace {

BufferId CutToBufferId(std::optional<uint64_t> id) {
  return BufferId{static_cast<uint16_t>(id.value_or(0))};
}

}  // namespace

SplitSource::SplitSource(OpSource& source, std::vector<SplitRule> rules)
    : source_(source), rules_(std::move(rules)), used_(rules_.size()) {}

std::vector<SplitRule> SplitSource::UnusedRules() const {
  std::vector<SplitRule> unused;
  for (size_t i = 0; i < rules_.size(); ++i)
    if (!used_[i]) unused.push_back(rules_[i]);
  return unused;
}

Result<std::optional<Op>> SplitSource::Next() {
  if (pending_.empty()) {
    RS_ASSIGN_OR_RETURN(std::optional<Op> op, source_.Next());
    if (!op || rules_.empty()) return op;
    Rewrite(*op);  // buffers that it makes come in front, what belongs to it behind
  }
  std::optional<Op> op = std::move(pending_.front());
  pending_.pop_front();
  return op;
}

const SplitRule* SplitSource::RuleFor(ProducerId producer, WriterId writer) {
  const SplitRule* found = nullptr;
  for (const SplitRule& rule : rules_) {
    if (rule.producer != producer) continue;
    if (rule.writer == writer) return &rule;
    if (!rule.writer && found == nullptr) found = &rule;
  }
  return found;
}

/// What the service says of a chunk, without the split.
bool SplitSource::MayWrite(ProducerId producer, WriterId writer, BufferId buffer) {
  const auto target = buffers_.find(buffer);
  if (target == buffers_.end() || !target->second.open) return false;
  const auto known = producers_.find(producer);
  if (known == producers_.end()) return !knows_data_sources_;
  if (knows_data_sources_ && !known->second.may_write.contains(buffer)) return false;
  const auto registered = known->second.writers.find(writer);
  return registered == known->second.writers.end() || registered->second == buffer;
}

void SplitSource::MakeBuffer(BufferId id, const Buffer& like, std::optional<uint64_t> time_ns) {
  Buffer made{.setup = like.setup, .made_from = like.setup.id};
  for (const auto& [other_id, other] : buffers_) made.index = std::max(made.index, other.index + 1);
  made.setup.id = id;
  made.setup.index = made.index;
  Follow({time_ns, made.setup});
  buffers_.insert_or_assign(id, std::move(made));
}

template <typename Visit>
void SplitSource::VisitMadeFrom(BufferId id, Visit visit) const {
  for (const auto& [made_id, buffer] : buffers_)
    if (buffer.made_from == id) visit(made_id);
}

void SplitSource::Rewrite(Op& op) {
  if (auto* commit = std::get_if<Commit>(&op.body)) {
    RewriteCommit(op, *commit);
    Follow(op);
    return;
  }
  if (auto* registered = std::get_if<WriterRegistered>(&op.body)) {
    producers_[registered->producer].writers.insert_or_assign(registered->writer,
                                                              registered->buffer);
    if (const SplitRule* rule = RuleFor(registered->producer, registered->writer))
      registered->buffer = rule->buffer;
  }
  if (auto* setup = std::get_if<BufferSetUp>(&op.body)) {
    // A buffer without an index has its place in the order of the log's own ones.
    if (!setup->index) setup->index = buffers_set_up_;
    ++buffers_set_up_;
  }
  Follow(op);
  std::visit(Overloaded{
                 [&](const BufferSetUp& setup) {
                   buffers_.insert_or_assign(setup.id,
                                             Buffer{.setup = setup, .index = *setup.index});
                 },
                 [&](const BufferFreed& freed) {
                   const auto buffer = buffers_.find(freed.id);
                   if (buffer == buffers_.end()) return;
                   buffer->second.open = false;
                   for (auto& [id, producer] : producers_) producer.may_write.erase(freed.id);
                   VisitMadeFrom(freed.id, [&](BufferId made) {
                     buffers_.at(made).open = false;
                     Follow({op.time_ns, BufferFreed{made}});
                   });
                 },
                 [&](const ProducerConnected& connected) { producers_[connected.producer] = {}; },
                 [&](const DataSourceSetUp& setup) {
                   knows_data_sources_ = true;
                   producers_[setup.producer].may_write.insert(setup.target_buffer);
                   std::set<BufferId> more;
                   for (const SplitRule& rule : rules_)
                     if (rule.producer == setup.producer) more.insert(rule.buffer);
                   more.erase(setup.target_buffer);
                   for (const BufferId id : more) {
                     DataSourceSetUp also = setup;
                     also.target_buffer = id;
                     Follow({op.time_ns, also});
                   }
                 },
                 [&](const WriterUnregistered& writer) {
                   producers_[writer.producer].writers.erase(writer.writer);
                 },
                 [&](const ReadPass& read) {
                   if (!read.buffer) return;
                   VisitMadeFrom(*read.buffer, [&](BufferId made) {
                     ReadPass also = read;
                     also.buffer = made;
                     Follow({op.time_ns, also});
                   });
                 },
                 [&](const CloneRead& clone) {
                   VisitMadeFrom(clone.buffer, [&](BufferId made) {
                     Follow({op.time_ns, CloneRead{made}});
                   });
                 },
                 [](const auto&) {},
             },
             op.body);
}

bool SplitSource::MoveChunk(const Op& op, ProducerId producer, ChunkToMove& chunk) {
  if (!chunk.data) return false;
  const std::optional<ChunkHeader> header = ParseChunkHeader(*chunk.data);
  if (!header) return false;
  const SplitRule* rule = RuleFor(producer, header->writer);
  const BufferId meant = CutToBufferId(chunk.target_buffer);
  if (rule == nullptr || rule->buffer == meant || !MayWrite(producer, header->writer, meant))
    return false;
  const auto target = buffers_.find(rule->buffer);
  if (target == buffers_.end() || (!target->second.open && target->second.made_from))
    MakeBuffer(rule->buffer, buffers_.at(meant), op.time_ns);
  chunk.target_buffer = Raw(rule->buffer);
  used_[static_cast<size_t>(rule - rules_.data())] = true;
  ++moved_chunks_;
  return true;
}

bool SplitSource::MovePatch(ProducerId producer, ChunkToPatch& patch) {
  if (!patch.writer || *patch.writer > UINT16_MAX) return false;
  const WriterId writer{static_cast<uint16_t>(*patch.writer)};
  const SplitRule* rule = RuleFor(producer, writer);
  if (rule == nullptr || !MayWrite(producer, writer, CutToBufferId(patch.target_buffer)))
    return false;
  patch.target_buffer = Raw(rule->buffer);
  return true;
}

void SplitSource::RewriteCommit(const Op& op, Commit& commit) {
  if (std::none_of(rules_.begin(), rules_.end(),
                   [&](const SplitRule& rule) { return rule.producer == commit.producer; }))
    return;
  if (!parser_.Parse(commit.request)) return;  // is refused as a whole
  bool changed = false;
  request_.clear();
  CommitRequestBuilder builder(request_);
  for (ChunkToMove chunk : parser_.chunks()) {
    changed |= MoveChunk(op, commit.producer, chunk);
    builder.AddChunk(chunk);
  }
  for (ChunkToPatch patch : parser_.patches()) {
    changed |= MovePatch(commit.producer, patch);
    builder.AddPatch(patch);
  }
  if (!changed) return;
  if (const auto flush = parser_.flush_request_id()) builder.SetFlushRequestId(*flush);
  commit.request = wire::AsBytes(request_);
}

}  // namespace ringscope
