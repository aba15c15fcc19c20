#include "formats/ops/events_jsonl.h"

#include "core/perfetto/trace_stats.h"
#include "formats/json/json.h"

namespace ringscope {
namespace {

std::string StatsText(const BufferStats& stats) {
  std::string text;
  JsonObjectWriter object(text);
  for (const StatField& field : kStatFields) object.Uint(field.name, stats.*field.value);
  object.Close();
  return text;
}

}  // namespace

uint64_t Fnv1a64(std::span<const Bytes> slices) {
  constexpr uint64_t kOffsetBasis = 0xcbf29ce484222325;
  constexpr uint64_t kPrime = 0x100000001b3;
  uint64_t hash = kOffsetBasis;
  for (const Bytes slice : slices)
    for (const uint8_t byte : slice) hash = (hash ^ byte) * kPrime;
  return hash;
}

template <typename... Args>
void EventsWriter::Add(fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(pending_), format, std::forward<Args>(args)...);
  pending_ += '\n';
  Flush(kWriteBytes);
}

void EventsWriter::AddPacket(const char* event, const SessionPacket& packet) {
  const Packet& p = *packet.packet;
  std::string place;
  if (p.place != kUnknownPlace)
    place =
        fmt::format(R"(,"chunk":{},"offset":{})", Raw(p.place.first_chunk), p.place.first_offset);
  Add(R"({{"event":"{}","buffer":{},"producer":{},"writer":{},"uid":{},"pid":{},"dropped":{},)"
      R"("size":{},"fnv1a64":"{:016x}"{}}})",
      event, Raw(packet.buffer), Raw(p.sequence.producer), Raw(p.sequence.writer), p.identity.uid,
      p.identity.pid, p.dropped, p.size, Fnv1a64(p.slices), place);
}

/// Adds a line for each program of a buffer, with its state of now.
void EventsWriter::AddPrograms(const char* event, const SessionBuffer& buffer, bool with_memory) {
  buffer.VisitPrograms([&](const ProgramState& program) {
    std::string line;
    JsonObjectWriter object(line);
    object.Name("event", event);
    object.Uint("buffer", Raw(buffer.id));
    object.Text("data_source", program.data_source);
    object.Uint("memory_limit_kb", program.memory_limit_kb);
    std::vector<uint64_t> producers;
    for (const ProducerId producer : program.producers) producers.push_back(Raw(producer));
    object.Uints("producers", producers);
    object.Hex("state", program.state);
    if (with_memory) object.Uint("memory", program.memory);
    object.Close();
    Add("{}", line);
  });
}

void EventsWriter::OnPatch(BufferId, bool ok) { Add(R"({{"event":"patch","ok":{}}})", ok); }

Status EventsWriter::OnPacket(const SessionPacket& packet) {
  AddPacket("packet", packet);
  return status_;
}

void EventsWriter::OnReadDone(BufferId buffer, uint64_t packets) {
  Add(R"({{"event":"read_done","buffer":{},"packets":{}}})", Raw(buffer), packets);
}

void EventsWriter::OnCloneDone(BufferId buffer, uint64_t packets, const BufferStats& stats) {
  Add(R"({{"event":"clone_done","buffer":{},"packets":{},"stats":{}}})", Raw(buffer), packets,
      StatsText(stats));
}

Status EventsWriter::OnLogEnd(Session& session) {
  for (const auto& [id, buffer] : session.buffers()) OnProtoVmStates(buffer);
  for (const auto& [id, buffer] : session.buffers())
    Add(R"({{"event":"stats","buffer":{},"stats":{}}})", Raw(id), StatsText(buffer.stats()));
  return status_;
}

Status EventsWriter::Finish() {
  Flush(1);
  return status_;
}

void EventsWriter::Flush(size_t least) {
  if (pending_.size() < least) return;
  if (status_) status_ = sink_.Write(pending_);
  pending_.clear();
}

}  // namespace ringscope
