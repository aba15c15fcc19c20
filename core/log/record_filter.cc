#include "core/log/record_filter.h"

namespace ringscope {

bool RecordFilter::Keeps(const Op& op, uint64_t number) {
  if (op.time_ns) {
    if (!start_ns_) start_ns_ = op.time_ns;
    now_ns_ = op.time_ns;
  }
  if (const auto* setup = std::get_if<BufferSetUp>(&op.body))
    filter_.Resolve(setup->id, setup->index.value_or(buffers_set_up_++));
  if (number < filter_.records.first || number > filter_.records.last) return false;
  // Records before the first that has a time belong to the session's start.
  const bool is_in_time = now_ns_
                              ? filter_.KeepsTime(now_ns_, now_ns_, *start_ns_)
                              : !filter_.from || (filter_.from->relative && filter_.from->ns == 0);
  return is_in_time && KeepsSubject(op.body);
}

bool RecordFilter::KeepsSubject(const OpBody& body) {
  if (const auto* commit = std::get_if<Commit>(&body)) {
    const ProducerId producer = commit->producer;
    parser_.Parse(commit->request);
    const auto& chunks = parser_.chunks();
    const auto patches = parser_.patches();
    if (chunks.empty() && patches.empty()) return filter_.Keeps({}, {});
    return std::ranges::any_of(chunks, [&](auto& chunk) { return KeepsChunk(producer, chunk); }) ||
           std::ranges::any_of(patches, [&](auto& patch) { return KeepsPatch(producer, patch); });
  }
  return std::visit(
      [&]<typename Record>(const Record& record) {
        std::optional<ProducerId> producer;
        std::optional<WriterId> writer;
        std::optional<SequenceKey> sequence;
        std::optional<BufferKey> buffer;
        if constexpr (requires { record.producer; }) producer = record.producer;
        if constexpr (requires { record.writer; }) writer = record.writer;
        if (producer && writer) sequence = SequenceKey{*producer, *writer};
        if constexpr (requires { record.target_buffer; }) buffer = record.target_buffer;
        if constexpr (requires { record.buffer; }) buffer = record.buffer;
        if constexpr (requires { record.id; }) buffer = record.id;
        // A pass over all buffers reads each of them.
        if (std::is_same_v<Record, ReadPass> && !buffer && !filter_.buffers.empty())
          buffer = filter_.buffers.front();
        return filter_.Keeps(buffer, sequence);
      },
      body);
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
