#include "core/log/retarget.h"

#include <algorithm>
#include <set>

#include "core/base/wire.h"

namespace ringscope {
RetargetSource::RetargetSource(OpSource& source, std::vector<RetargetRule> rules,
                               ReleaseOf release_of)
    : source_(source),
      rules_(std::move(rules)),
      release_of_(std::move(release_of)),
      used_(rules_.size()) {}
RetargetSource::RetargetSource(std::unique_ptr<OpSource> source, std::vector<RetargetRule> rules,
                               ReleaseOf release_of)
    : RetargetSource(*source, std::move(rules), std::move(release_of)) {
  owned_ = std::move(source);
}

std::vector<RetargetRule> RetargetSource::UnusedRules() const {
  std::vector<RetargetRule> unused;
  for (size_t i = 0; i < rules_.size(); ++i)
    if (!used_[i]) unused.push_back(rules_[i]);
  return unused;
}

Result<std::optional<Op>> RetargetSource::Next() {
  if (pending_.empty()) {
    RS_ASSIGN_OR_RETURN(std::optional<Op> op, source_.Next());
    if (!op || rules_.empty()) return op;
    Rewrite(*op);  // buffers that it makes come before it, what belongs to it after it
  }
  std::optional<Op> op = std::move(pending_.front());
  pending_.pop_front();
  return op;
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

bool RetargetSource::IsOpen(BufferId id) const {
  const auto buffer = buffers_.find(id);
  return buffer != buffers_.end() && buffer->second.open;
}

void RetargetSource::MakeBuffer(BufferId id, const Buffer& like, std::optional<uint64_t> time_ns) {
  Buffer made{.setup = like.setup, .made_from = like.setup.id};
  for (const auto& [other_id, other] : buffers_) made.index = std::max(made.index, other.index + 1);
  made.setup.id = id;
  made.setup.index = made.index;
  made.release = release_of_(made.setup);
  Follow({time_ns, made.setup});
  buffers_.insert_or_assign(id, std::move(made));
}

template <typename Visit>
void RetargetSource::VisitMadeFrom(BufferId id, Visit visit) const {
  for (const auto& [made_id, buffer] : buffers_)
    if (buffer.made_from == id) visit(made_id);
}

void RetargetSource::Rewrite(Op& op) {
  access_.Apply(op);
  if (auto* commit = std::get_if<Commit>(&op.body)) {
    RewriteCommit(op, *commit);
    Follow(op);
    return;
  }
  if (auto* registered = std::get_if<WriterRegistered>(&op.body)) {
    if (const RetargetRule* rule = RuleFor(registered->producer, registered->writer))
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
                   buffers_.insert_or_assign(setup.id, Buffer{.setup = setup,
                                                              .index = *setup.index,
                                                              .release = release_of_(setup)});
                 },
                 [&](const BufferFreed& freed) {
                   const auto buffer = buffers_.find(freed.id);
                   if (buffer == buffers_.end()) return;
                   buffer->second.open = false;
                   VisitMadeFrom(freed.id, [&](BufferId made) {
                     buffers_.at(made).open = false;
                     Follow({op.time_ns, BufferFreed{made}});
                   });
                 },
                 [&](const DataSourceSetUp& setup) {
                   std::set<BufferId> more;
                   for (const RetargetRule& rule : rules_)
                     if (rule.producer == setup.producer) more.insert(rule.buffer);
                   more.erase(setup.target_buffer);
                   for (const BufferId id : more) {
                     DataSourceSetUp also = setup;
                     also.target_buffer = id;
                     Follow({op.time_ns, also});
                   }
                 },
                 [&](const ReadPass& read) {
                   if (!read.buffer) return;
                   VisitMadeFrom(*read.buffer, [&](BufferId made) {
                     ReadPass also = read;
                     also.buffer = made;
                     Follow({op.time_ns, also});
                   });
                 },
                 [&](const ProtoVmSetUp& setup) {
                   for (const RetargetRule& rule : rules_) {
                     if (rule.producer != setup.producer || rule.buffer == setup.buffer) continue;
                     ProtoVmSetUp also = setup;
                     also.buffer = rule.buffer;
                     Follow({op.time_ns, also});
                   }
                 },
                 [&](const CloneRead& clone) {
                   VisitMadeFrom(clone.buffer, [&](BufferId made) {
                     Follow({op.time_ns, CloneRead{made}});
                   });
                 },
                 [&](const BufferCloned& cloned) {
                   VisitMadeFrom(cloned.buffer, [&](BufferId made) {
                     BufferCloned also = cloned;
                     also.buffer = made;
                     Follow({op.time_ns, also});
                   });
                 },
                 [&](const BufferCleared& cleared) {
                   VisitMadeFrom(cleared.buffer, [&](BufferId made) {
                     Follow({op.time_ns, BufferCleared{made}});
                   });
                 },
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
      access_.Check(producer, commit, chunk, writer, true, buffer->second.release))
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
  const WriterId writer{static_cast<uint16_t>(*patch.writer)};
  const RetargetRule* rule = RuleFor(producer, writer);
  if (rule == nullptr || !IsOpen(TargetBufferOf(patch.target_buffer))) return false;
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
