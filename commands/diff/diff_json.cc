#include "commands/diff/diff_json.h"

#include <fmt/format.h>

#include "commands/report/json.h"
#include "commands/shell/text.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/packet_facts.h"
#include "core/session/buffer_event.h"

namespace ringscope {
namespace {

Json ChunkJson(const std::optional<ChunkName>& chunk) {
  return chunk ? Json(ToString(*chunk)) : Json();
}

Json WhyJson(const DiffWhy& why) {
  Json json = {{"kind", Name(why.kind)}, {"text", Describe(why)}};
  json.update(MomentJson(why.moment));
  if (why.kind == DiffWhy::Kind::kDiscarded) json["discard"] = Name(why.discard);
  if (why.kind == DiffWhy::Kind::kWaits) json["waits_for"] = Name(why.stall);
  if (why.loss_bits != 0) json["loss_bits"] = why.loss_bits;
  if (why.by) json["by"] = ChunkJson(why.by);
  if (why.with) json["with"] = ChunkJson(why.with);
  return json;
}

Json ViewJson(const PacketView& view) {
  Json json = {{"returned", view.returned}};
  if (view.returned) {
    json.update(MomentJson(view.moment));
    json["bytes"] = view.size;
    json["xxh3"] = fmt::format("{:016x}", view.hash);
    json["loss_bits"] = view.loss_bits;
    json["uid"] = view.identity.uid;
    json["pid"] = view.identity.pid;
    json["valid"] = view.valid;
  }
  if (view.why) json["why"] = WhyJson(*view.why);
  return json;
}

Json PacketJson(const PacketDifference& packet) {
  return {{"kind", Name(packet.kind)},
          {"buffer", Raw(packet.place.buffer)},
          {"clone", packet.place.clone},
          {"sequence", ToString(packet.place.sequence)},
          {"chunk", Raw(packet.place.chunk)},
          {"offset", packet.place.offset},
          {"last_chunk", Raw(packet.last_chunk)},
          {"written", packet.written.record ? MomentJson(packet.written) : Json()},
          {"content", ContentName(packet.content)},
          {"a", ViewJson(packet.sides.a)},
          {"b", ViewJson(packet.sides.b)}};
}

Json StateJson(const SideState& state) {
  Json chunks = Json::array();
  for (const HeldChunk& chunk : state.chunks) {
    chunks.push_back({{"chunk", Raw(chunk.chunk)},
                      {"offset", chunk.offset},
                      {"bytes", chunk.outer_size},
                      {"payload_bytes", chunk.payload_size},
                      {"flags", chunk.flags},
                      {"incomplete", chunk.incomplete},
                      {"committed", MomentJson(chunk.committed)}});
  }
  Json journal = Json::array();
  for (const BufferEvent& event : state.journal) {
    Json entry = MomentJson(event.at);
    entry["event"] = Name(event.kind);
    entry["chunk"] = ToString(event.chunk);
    entry["text"] = Describe(event);
    journal.push_back(std::move(entry));
  }
  return {{"size", state.size},
          {"write_cursor", state.write_cursor},
          {"wraps", state.wraps},
          {"held_chunks", state.held_chunks},
          {"held_bytes", state.held_bytes},
          {"sequence_chunks", state.sequence_chunks},
          {"chunks", std::move(chunks)},
          {"journal", std::move(journal)}};
}

Json DivergenceJson(const std::optional<Divergence>& first) {
  if (!first) return {};
  Json json = {{"kind", Name(first->kind)}};
  json.update(MomentJson(first->moment));
  json["at_end"] = first->at_end;
  json["operation"] = first->operation;
  json["buffer"] = first->buffer ? Json(Raw(*first->buffer)) : Json();
  json["chunk"] = ChunkJson(first->chunk);
  json["packet"] = first->packet ? PacketJson(*first->packet) : Json();
  if (first->kind == DifferenceKind::kPatch)
    json["patched"] = {{"a", first->patched.a}, {"b", first->patched.b}};
  Json counters = Json::array();
  for (const size_t i : first->counters) counters.push_back(kStatFields[i].name);
  json["counters"] = std::move(counters);
  json["a"] = StateJson(first->states.a);
  json["b"] = StateJson(first->states.b);
  return json;
}

Json SideJson(const SideBuffer& side) {
  return {{"engine", side.engine},
          {"size", side.size},
          {"policy", Name(side.policy)},
          {"freed", side.freed},
          {"packets", side.read.packets},
          {"packet_bytes", side.read.bytes},
          {"unread_bytes", side.stats.unread_bytes()},
          {"peak_bytes", side.peak_bytes}};
}

Json BufferJson(const BufferDiff& buffer) {
  Json diverged = Json::object();
  for (size_t i = 0; i < kStatFields.size(); ++i)
    if (buffer.diverged[i]) diverged[kStatFields[i].name] = MomentJson(*buffer.diverged[i]);
  return {{"buffer", Raw(buffer.id)},
          {"a", SideJson(buffer.sides.a)},
          {"b", SideJson(buffer.sides.b)},
          {"counters", CountersJson(buffer.sides.a.stats, buffer.sides.b.stats)},
          {"counters_differ_from", std::move(diverged)}};
}

Json SessionJson(const SessionDiff& diff) {
  const LogDiff& result = diff.result;
  Json packets = Json::object();
  for (size_t i = 0; i < kDifferenceKinds; ++i) {
    Json list = Json::array();
    for (const PacketDifference& packet : result.packets[i]) list.push_back(PacketJson(packet));
    const auto kind = static_cast<DifferenceKind>(i);
    if (kind != DifferenceKind::kPatch && kind != DifferenceKind::kCounter)
      packets[Name(kind)] = std::move(list);
  }
  Json buffers = Json::array();
  for (const BufferDiff& buffer : result.buffers) buffers.push_back(BufferJson(buffer));
  Json service = Json::object();
  for (const ServiceField& field : kServiceFields)
    service[field.name] = {{"a", result.service.a.*field.value},
                           {"b", result.service.b.*field.value}};
  return {{"input", diff.path},
          {"session", diff.session},
          {"records", result.records},
          {"same", result.Same()},
          {"same_results", result.SameResults()},
          {"same_reads", result.same_reads},
          {"counts", CountsJson(result.counts)},
          {"first_divergence", DivergenceJson(result.first)},
          {"first_counter_divergence", DivergenceJson(result.first_counter)},
          {"first_other_order_across_sequences",
           result.first_across_order ? MomentJson(*result.first_across_order) : Json()},
          {"packets", std::move(packets)},
          {"buffers", std::move(buffers)},
          {"service", std::move(service)}};
}

}  // namespace

Json CountsJson(const DiffCounts& counts) {
  Json json = {{"matched", counts.matched}};
  for (size_t i = 0; i < kDifferenceKinds; ++i)
    json[Name(static_cast<DifferenceKind>(i))] = counts.by_kind[i];
  json["other_order_across_sequences"] = counts.across_order;
  return json;
}

Json CountersJson(const BufferStats& a, const BufferStats& b) {
  Json json = Json::object();
  for (const StatField& field : kStatFields)
    json[field.name] = {{"a", a.*field.value}, {"b", b.*field.value}};
  return json;
}

Json LogDiffsJson(const std::vector<std::vector<SessionDiff>>& diffs,
                  const std::vector<LogStatus>* logs) {
  bool same = true;
  Json sessions = Json::array();
  for (const std::vector<SessionDiff>& of_log : diffs) {
    for (const SessionDiff& diff : of_log) {
      same = same && diff.result.Same();
      sessions.push_back(SessionJson(diff));
    }
  }
  Json document = JsonDocument("diff");
  document.update({{"compares", "replays"}, {"same", same}, {"sessions", std::move(sessions)}});
  if (logs == nullptr || CountFailed(*logs) == 0) return document;
  for (const LogStatus& log : *logs)
    if (log.error) document["failed"].push_back({{"log", log.log}, {"error", log.error}});
  return document;
}

}  // namespace ringscope
