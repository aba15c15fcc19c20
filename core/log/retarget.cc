#include "core/log/retarget.h"

#include <algorithm>
#include <set>

#include "core/base/wire.h"

namespace ringscope {

std::vector<RetargetRule> RetargetSource::UnusedRules() const {
  std::vector<RetargetRule> unused;
  for (size_t i = 0; i < rules_.size(); ++i)
    if (!used_[i]) unused.push_back(rules_[i]);
  return unused;
}

const RetargetRule* RetargetSource::RuleFor(ProducerId producer, WriterId writer) {
  const RetargetRule* found = nullptr;
  for (const RetargetRule& rule : rules_) {
    if (rule.producer != producer) continue;
    if (rule.writer == writer) return &rule;
    if (!rule.writer && found == nullptr) found = &rule;
  }
  return found;
}

void RetargetSource::MakeBuffer(BufferId id, const Buffer& like, std::optional<uint64_t> time_ns) {
  Buffer made{.setup = like.setup, .made_from = like.setup.id};
  made.setup.id = id;
  made.setup.index = 0;
  for (const auto& [other_id, other] : buffers_)
    made.setup.index = std::max(*made.setup.index, *other.setup.index + 1);
  Add({time_ns, made.setup});
  buffers_.insert_or_assign(id, std::move(made));
}

void RetargetSource::Change(Op op) {
  access_.Apply(op);
  if (auto* commit = std::get_if<Commit>(&op.body)) {
    RewriteCommit(op, *commit);
    return Add(op);
  }
  if (auto* registered = std::get_if<WriterRegistered>(&op.body)) {
    if (const RetargetRule* rule = RuleFor(registered->producer, registered->writer))
      registered->buffer = rule->buffer;
  }
  if (auto* setup = std::get_if<BufferSetUp>(&op.body)) {
    // A buffer without an index has its place in the order of the log's own ones.
    if (!setup->index) setup->index = buffers_set_up_;
    ++buffers_set_up_;
    buffers_.insert_or_assign(setup->id, Buffer{.setup = *setup});
  }
  Add(op);
  // Repeats a record about a buffer for those that were made from it.
  const auto repeat = [&]<typename Record, typename Id>(Record record, Id Record::*member) {
    const std::optional<BufferId> of = record.*member;
    for (const auto& [id, buffer] : buffers_) {
      if (!buffer.made_from || buffer.made_from != of) continue;
      record.*member = id;
      Add({op.time_ns, record});
    }
  };
  // Repeats a record about a producer's data source for the targets of its rules.
  const auto repeat_for_targets = [&]<typename Record>(Record record, BufferId Record::*member) {
    std::set<BufferId> targets;
    for (const RetargetRule& rule : rules_)
      if (rule.producer == record.producer) targets.insert(rule.buffer);
    targets.erase(record.*member);
    for (const BufferId id : targets) {
      record.*member = id;
      Add({op.time_ns, record});
    }
  };
  std::visit(
      Overloaded{
          [&](const BufferFreed& freed) {
            const auto own = buffers_.find(freed.id);
            if (own == buffers_.end()) return;
            own->second.open = false;
            for (auto& [id, buffer] : buffers_)
              if (buffer.made_from == freed.id) buffer.open = false;
            repeat(freed, &BufferFreed::id);
          },
          [&](const DataSourceSetUp& setup) {
            repeat_for_targets(setup, &DataSourceSetUp::target_buffer);
          },
          [&](const ProtoVmSetUp& setup) { repeat_for_targets(setup, &ProtoVmSetUp::buffer); },
          [&](const ReadPass& read) { repeat(read, &ReadPass::buffer); },
          [&](const CloneRead& clone) { repeat(clone, &CloneRead::buffer); },
          [&](const BufferCloned& cloned) { repeat(cloned, &BufferCloned::buffer); },
          [&](const BufferCleared& cleared) { repeat(cleared, &BufferCleared::buffer); },
          [](const auto&) {},
      },
      op.body);
}

bool RetargetSource::MoveChunk(const Op& op, const Commit& commit, ChunkToMove& chunk) {
  const std::optional<ChunkCommit> incoming = ToChunkCommit(commit.producer, chunk);
  if (!incoming) return false;
  const WriterId writer = incoming->sequence.writer;
  const RetargetRule* rule = RuleFor(commit.producer, writer);
  const BufferId meant = TargetBufferOf(chunk.target_buffer);
  if (rule == nullptr || rule->buffer == meant) return false;
  const ServiceAccess::Producer* producer = access_.Find(commit.producer);
  const auto buffer = buffers_.find(meant);
  if (buffer == buffers_.end() || !buffer->second.open ||
      access_.Check(producer, commit, chunk, writer, true, kNewestRelease))
    return false;
  const auto target = buffers_.find(rule->buffer);
  if (target == buffers_.end() || (!target->second.open && target->second.made_from))
    MakeBuffer(rule->buffer, buffer->second, op.time_ns);
  chunk.target_buffer = Raw(rule->buffer);
  used_[static_cast<size_t>(rule - rules_.data())] = true;
  return true;
}

bool RetargetSource::MovePatch(ProducerId producer, ChunkToPatch& patch) {
  if (!patch.writer) return false;
  const RetargetRule* rule = RuleFor(producer, patch.NameFor(producer).sequence.writer);
  const auto buffer = buffers_.find(TargetBufferOf(patch.target_buffer));
  if (rule == nullptr || buffer == buffers_.end() || !buffer->second.open) return false;
  patch.target_buffer = Raw(rule->buffer);
  return true;
}

void RetargetSource::RewriteCommit(const Op& op, Commit& commit) {
  if (std::none_of(rules_.begin(), rules_.end(),
                   [&](const RetargetRule& rule) { return rule.producer == commit.producer; }))
    return;
  if (!parser_.Parse(commit.request)) return;  // is refused as a whole
  bool changed = false;
  request_.clear();
  CommitRequestBuilder builder(request_);
  for (ChunkToMove chunk : parser_.chunks()) {
    changed |= MoveChunk(op, commit, chunk);
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
