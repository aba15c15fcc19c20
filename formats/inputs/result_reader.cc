#include "formats/inputs/result_reader.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <map>
#include <tuple>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"
#include "core/perfetto/trace_stats.h"
#include "formats/io/compressed_source.h"
#include "formats/io/line_reader.h"
#include "formats/json/json_keys.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {
namespace {

constexpr size_t kMaxEventLine = size_t{1} << 20;
constexpr uint64_t kMaxPackets = UINT32_MAX;

/// Puts packets into sequences.
class ResultBuilder {
 public:
  /// @param key what makes the sequence one of its own
  Status Add(const OutputGroup& group, uint64_t key, const std::string& name, Identity identity,
             OutputPacket packet) {
    if (file.packets == kMaxPackets)
      return Fail(ErrorCode::kLimit, fmt::format("more than {} packets", kMaxPackets));
    const auto [slot, is_new] =
        slots_.try_emplace(std::tuple(group.buffer, group.clone, key), file.sequences.size());
    if (is_new)
      file.sequences.push_back({.group = group, .name = name, .identity = identity, .packets = {}});
    packet.position = static_cast<uint32_t>(file.packets++);
    file.sequences[slot->second].packets.push_back(packet);
    return {};
  }

  ReplayOutput file;

 private:
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, size_t> slots_;
};

class EventsReader {
 public:
  explicit EventsReader(std::unique_ptr<ByteSource> text)
      : lines_(std::move(text), kMaxEventLine) {}

  Result<ReplayOutput> Run() {
    while (true) {
      RS_ASSIGN_OR_RETURN(const std::optional<std::string_view> line, lines_.Next());
      if (!line) return std::move(builder_.file);
      if (IsBlankOrComment(*line)) continue;
      if (Status status = AddLine(*line); !status) {
        status.error().where = lines_.Here();
        return tl::unexpected<Error>(std::move(status.error()));
      }
    }
  }

 private:
  Status AddLine(std::string_view line) {
    RS_ASSIGN_OR_RETURN(const Json object, ParseJson(line));
    if (!object.is_object()) return Fail(ErrorCode::kCorrupt, "expected a JSON object");
    KeyReader keys(object);
    const std::string event = keys.Text("event");
    RS_RETURN_IF_ERROR(keys.status());
    if (event == "packet") return AddPacket(keys, 0);
    if (event == "clone_packet") return AddPacket(keys, clones_ + 1);
    if (event == "patch") {
      builder_.file.patches.push_back(keys.BoolOr(true, "ok"));
    } else if (event == "clone_done") {
      ++clones_;
    } else if (event == "stats") {
      const auto buffer = keys.Uint<uint32_t>("buffer", UINT16_MAX);
      if (!object.contains("stats") || !object["stats"].is_object())
        keys.FailExpected("stats", "an object");
      RS_RETURN_IF_ERROR(keys.status());
      KeyReader counters(object["stats"], "stats.");
      BufferStats& stats = builder_.file.stats[buffer];
      for (const StatField& field : kStatFields)
        stats.*field.value = counters.UintOr<uint64_t>(0, field.name);
      return counters.status();
    }
    return keys.status();
  }

  Status AddPacket(KeyReader& keys, uint32_t clone) {
    const OutputGroup group{keys.Uint<uint32_t>("buffer", UINT16_MAX), clone};
    const auto producer = keys.Uint<uint16_t>("producer");
    const auto writer = keys.Uint<uint16_t>("writer");
    const Identity identity{keys.UintOr<uint32_t>(0, "uid"),
                            keys.OptionalInt32("pid").value_or(-1)};
    OutputPacket packet;
    packet.size = keys.Uint<uint64_t>("size");
    packet.loss_bits = keys.UintOr<uint32_t>(0, "dropped");
    std::string hash;
    keys.Hex("fnv1a64", sizeof packet.hash, hash);
    RS_RETURN_IF_ERROR(keys.status());
    for (const char c : hash) packet.hash = packet.hash << 8 | static_cast<uint8_t>(c);
    return builder_.Add(group, uint64_t{producer} << 16 | writer,
                        fmt::format("{}:{}", producer, writer), identity, packet);
  }

  LineReader lines_;
  ResultBuilder builder_;
  uint32_t clones_ = 0;
};

/// The counters in a packet of the service, if that is what it has.
void ReadStats(Bytes packet, std::map<uint32_t, BufferStats>& stats) {
  wire::FieldReader fields(packet);
  while (const auto field = fields.Next()) {
    if (!field->IsBytes(proto::TracePacket::kTraceStats)) continue;
    stats.clear();
    for (const BufferStats& buffer : ReadTraceStats(field->bytes))
      stats[static_cast<uint32_t>(stats.size())] = buffer;
  }
}

}  // namespace

Result<ReplayOutput> ReadEvents(std::unique_ptr<ByteSource> source) {
  RS_ASSIGN_OR_RETURN(std::string start, ReadStart(*source, 4));
  source = MakePrefixedSource(start, std::move(source));
  if (auto content = MakeSourceFor(wire::AsBytes(start), source)) source = std::move(content);
  return EventsReader(std::move(source)).Run();
}

Result<ReplayOutput> ReadTraceResults(std::unique_ptr<ByteSource> source) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<TraceReader> reader,
                      TraceReader::Open(std::move(source)));
  ResultBuilder builder;
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<TracePacket> trace_packet, reader->Next());
    if (!trace_packet) return std::move(builder.file);
    if (trace_packet->sequence_id == kServiceSequenceId) {
      ++builder.file.service_packets;
      ReadStats(trace_packet->bytes, builder.file.stats);
      continue;
    }
    OutputPacket packet;
    packet.hash = XXH3_64bits(trace_packet->content.data(), trace_packet->content.size());
    packet.size = trace_packet->content.size();
    packet.loss_bits = trace_packet->dropped;
    packet.content = ReadPacketFacts(trace_packet->content).content;
    const Identity identity{static_cast<uint32_t>(trace_packet->trusted_uid.value_or(0)),
                            trace_packet->trusted_pid.value_or(-1)};
    RS_RETURN_IF_ERROR(builder.Add({}, trace_packet->sequence_id,
                                   std::to_string(trace_packet->sequence_id), identity, packet));
  }
}

}  // namespace ringscope
