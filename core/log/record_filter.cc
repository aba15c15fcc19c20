#include "core/log/record_filter.h"

#include <type_traits>

#include "core/base/lookup.h"

namespace ringscope {
namespace {

/// Returns true if a list allows a value. An empty one allows all, another no absent value.
template <typename T>
bool Allows(const std::vector<T>& list, const std::optional<std::type_identity_t<T>>& value) {
  return list.empty() || (value && Contains(list, *value));
}

}  // namespace

void RecordFilter::StartSession(std::optional<uint64_t> start_ns) {
  start_ns_ = start_ns;
  now_ns_.reset();
  buffers_set_up_ = 0;
}

bool RecordFilter::Keeps(const Op& op, uint64_t number) {
  if (op.time_ns) {
    if (!start_ns_) start_ns_ = op.time_ns;
    now_ns_ = op.time_ns;
  }
  if (const auto* setup = std::get_if<BufferSetUp>(&op.body))
    filter_.Resolve(setup->id, setup->index.value_or(buffers_set_up_++));
  if (filter_.records && (number < filter_.records->first || number > filter_.records->last))
    return false;
  return KeepsTime() && KeepsSubject(op.body);
}

bool RecordFilter::KeepsTime() const {
  // Records before the first that has a time belong to the session's start.
  if (!now_ns_) return !filter_.from || (filter_.from->relative && filter_.from->ns == 0);
  return filter_.KeepsTime(now_ns_, now_ns_, *start_ns_);
}

bool RecordFilter::KeepsSubject(const OpBody& body) {
  if (const auto* commit = std::get_if<Commit>(&body)) return KeepsCommit(*commit);
  return std::visit(
      [&]<typename Record>(const Record& record) {
        std::optional<ProducerId> producer;
        std::optional<WriterId> writer;
        std::optional<BufferKey> buffer;
        if constexpr (requires { record.producer; }) producer = record.producer;
        if constexpr (requires { record.writer; }) writer = record.writer;
        if constexpr (requires { record.target_buffer; }) buffer = record.target_buffer;
        if constexpr (requires { record.buffer; }) buffer = record.buffer;
        if constexpr (requires { record.id; }) buffer = record.id;
        // A pass over all buffers reads each of them.
        if (std::is_same_v<Record, ReadPass> && !buffer && !filter_.buffers.empty())
          buffer = filter_.buffers.front();
        return Matches(producer, writer, buffer);
      },
      body);
}

bool RecordFilter::KeepsCommit(const Commit& commit) {
  const ProducerId producer = commit.producer;
  parser_.Parse(commit.request);
  const auto& chunks = parser_.chunks();
  const auto patches = parser_.patches();
  if (chunks.empty() && patches.empty()) return Matches(producer, {}, {});
  return std::ranges::any_of(chunks, [&](auto& chunk) { return KeepsChunk(producer, chunk); }) ||
         std::ranges::any_of(patches, [&](auto& patch) { return KeepsPatch(producer, patch); });
}

bool RecordFilter::KeepsChunk(ProducerId producer, const ChunkToMove& chunk) const {
  const auto header = chunk.header();
  return Matches(producer, header ? std::optional(header->writer) : std::nullopt,
                 TargetBufferOf(chunk.target_buffer));
}

bool RecordFilter::KeepsPatch(ProducerId producer, const ChunkToPatch& patch) const {
  return Matches(producer, patch.NameFor(producer).sequence.writer,
                 TargetBufferOf(patch.target_buffer));
}

bool RecordFilter::Matches(std::optional<ProducerId> producer, std::optional<WriterId> writer,
                           std::optional<BufferKey> buffer) const {
  std::optional<SequenceKey> sequence;
  if (producer && writer) sequence = SequenceKey{*producer, *writer};
  return Allows(filter_.sequences, sequence) && Allows(filter_.buffers, buffer);
}

bool SessionFilter::Keeps(Op& op) {
  const auto is_other = [&](std::optional<uint64_t> session) {
    return session && *session != session_;
  };
  return std::visit(
      Overloaded{[&](BufferSetUp& setup) {
                   setup.left_out = is_other(setup.session);
                   return true;
                 },
                 [&](const DataSourceSetUp& source) {
                   if (is_other(source.session))
                     instances_.emplace(source.producer, source.instance);
                   return true;
                 },
                 [&](const FlushRequested& flush) {
                   if (!flush.producer || flush.instances.empty() ||
                       !std::ranges::all_of(flush.instances, [&](uint64_t instance) {
                         return instances_.contains({*flush.producer, instance});
                       }))
                     return true;
                   flushes_.insert(flush.flush);
                   return false;
                 },
                 [&](const FlushTimedOut& flush) { return !flushes_.contains(flush.flush); },
                 [&](const CloneRequested& clone) {
                   if (is_other(clone.session)) clones_.insert(clone.clone);
                   return !is_other(clone.session);
                 },
                 [&](const auto& record) {
                   if constexpr (requires { record.clone; })
                     return !clones_.contains(record.clone);
                   else if constexpr (requires { record.session; })
                     return !is_other(record.session);
                   return true;
                 }},
      op.body);
}

}  // namespace ringscope
