#include "core/log/record_filter.h"

#include <algorithm>

namespace ringscope {
namespace {

template <typename T>
bool Contains(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// Whether a list allows a value; an empty one allows everything, others no absent value.
template <typename T>
bool Allows(const std::vector<T>& list, const std::optional<T>& value) {
  return list.empty() || (value && Contains(list, *value));
}

/// The service cuts these ids to 16 bits.
BufferId CutBuffer(uint64_t id) { return BufferId{static_cast<uint16_t>(id)}; }

}  // namespace

std::vector<std::string> FilterKinds() {
  std::vector<std::string> names;
  for (size_t kind = 0; kind < kOpKinds; ++kind) names.emplace_back(OpKindName(kind));
  names.emplace_back(kPatchKind);
  return names;
}

void RecordFilter::StartSession() {
  start_ns_.reset();
  now_ns_.reset();
}

bool RecordFilter::Keeps(const Op& op, uint64_t number) {
  if (op.time_ns) {
    if (!start_ns_) start_ns_ = op.time_ns;
    now_ns_ = op.time_ns;
  }
  if (filter_.records && (number < filter_.records->first || number > filter_.records->last))
    return false;
  if (!KeepsTime() || !KeepsKind(op)) return false;
  if (const auto* commit = std::get_if<Commit>(&op.body)) return KeepsCommit(*commit);
  return Matches(SubjectOf(op.body));
}

bool RecordFilter::IsPast(uint64_t number) const {
  return filter_.records && number >= filter_.records->last;
}

bool RecordFilter::KeepsTime() const {
  // Records in front of the first that has a time belong to the session's start.
  if (!now_ns_) return !filter_.from || (filter_.from->relative && filter_.from->ns == 0);
  if (filter_.from && *now_ns_ < filter_.from->Absolute(*start_ns_)) return false;
  return !filter_.to || *now_ns_ <= filter_.to->Absolute(*start_ns_);
}

bool RecordFilter::KeepsKind(const Op& op) {
  if (filter_.kinds.empty()) return true;
  if (Contains(filter_.kinds, std::string(OpKindName(op.body.index())))) return true;
  const auto* commit = std::get_if<Commit>(&op.body);
  if (commit == nullptr || !Contains(filter_.kinds, std::string(kPatchKind))) return false;
  parser_.Parse(commit->request);
  return !parser_.patches().empty();
}

bool RecordFilter::KeepsCommit(const Commit& commit) {
  if (filter_.producers.empty() && filter_.sequences.empty() && filter_.buffers.empty())
    return true;
  parser_.Parse(commit.request);
  const auto& chunks = parser_.chunks();
  const auto patches = parser_.patches();
  if (chunks.empty() && patches.empty()) return Matches(Subject{commit.producer, {}, {}});
  return std::any_of(chunks.begin(), chunks.end(),
                     [&](const auto& chunk) { return KeepsChunk(commit.producer, chunk); }) ||
         std::any_of(patches.begin(), patches.end(),
                     [&](const auto& patch) { return KeepsPatch(commit.producer, patch); });
}

bool RecordFilter::KeepsChunk(ProducerId producer, const ChunkToMove& chunk) const {
  return Matches(SubjectOf(producer, chunk));
}

bool RecordFilter::KeepsPatch(ProducerId producer, const ChunkToPatch& patch) const {
  return Matches(SubjectOf(producer, patch));
}

bool RecordFilter::Matches(const Subject& subject) const {
  std::optional<SequenceKey> sequence;
  if (subject.producer && subject.writer)
    sequence = SequenceKey{*subject.producer, *subject.writer};
  return Allows(filter_.producers, subject.producer) && Allows(filter_.sequences, sequence) &&
         (subject.all_buffers || Allows(filter_.buffers, subject.buffer));
}

RecordFilter::Subject RecordFilter::SubjectOf(ProducerId producer, const ChunkToMove& chunk) {
  Subject subject{producer, {}, {}};
  if (const auto header = chunk.header()) subject.writer = header->writer;
  if (chunk.target_buffer) subject.buffer = CutBuffer(*chunk.target_buffer);
  return subject;
}

RecordFilter::Subject RecordFilter::SubjectOf(ProducerId producer, const ChunkToPatch& patch) {
  Subject subject{producer, {}, {}};
  if (patch.writer) subject.writer = WriterId{static_cast<uint16_t>(*patch.writer)};
  if (patch.target_buffer) subject.buffer = CutBuffer(*patch.target_buffer);
  return subject;
}

RecordFilter::Subject RecordFilter::SubjectOf(const OpBody& body) {
  return std::visit(
      [](const auto& record) {
        using T = std::decay_t<decltype(record)>;
        Subject subject;
        if constexpr (requires { record.producer; }) subject.producer = record.producer;
        if constexpr (requires { record.writer; }) subject.writer = record.writer;
        if constexpr (requires { record.target_buffer; }) subject.buffer = record.target_buffer;
        if constexpr (requires { record.buffer; }) subject.buffer = record.buffer;
        if constexpr (std::is_same_v<T, BufferSetUp> || std::is_same_v<T, BufferFreed>)
          subject.buffer = record.id;
        if constexpr (std::is_same_v<T, ReadPass>) subject.all_buffers = !record.buffer;
        return subject;
      },
      body);
}

}  // namespace ringscope
