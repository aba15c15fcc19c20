#include "commands/info_report.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "commands/json_output.h"
#include "commands/json_pieces.h"
#include "commands/table.h"
#include "commands/text.h"

namespace ringscope {
namespace {

uint64_t Duration(const SessionSummary& session) {
  return session.first_time_ns && session.last_time_ns
             ? *session.last_time_ns - *session.first_time_ns
             : 0;
}

std::string KindCounts(const SessionSummary& session) {
  std::string text;
  for (size_t kind = 0; kind < kOpKinds; ++kind) {
    if (session.counts[kind] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", WithCommas(session.counts[kind]),
                        OpKindName(kind));
  }
  return text;
}

void PrintFacts(Console& console, const SessionSummary& session) {
  Table facts({{"", Align::kLeft}, {"", Align::kLeft}});
  const auto add = [&](const char* title, const std::string& text) {
    if (!text.empty()) facts.AddRow({title, text});
  };
  const LogHeader& header = session.header;
  add("uuid", Printable(header.uuid));
  add("written by", Printable(header.tool));
  add("source", fmt::format("{}{}{}", Name(header.source), header.description.empty() ? "" : ", ",
                            Printable(header.description)));
  add("host", Printable(header.host));
  if (session.first_time_ns) {
    add("duration", HumanDuration(Duration(session)));
    add("time", fmt::format("{} to {} ns{}{}", *session.first_time_ns, *session.last_time_ns,
                            header.clock.empty() ? "" : ", ", Printable(header.clock)));
  }
  add("records", fmt::format("{}: {}", WithCommas(session.records), KindCounts(session)));
  add("committed",
      fmt::format("{}, {}, {}", Count(session.chunks, "chunk"), HumanSize(session.chunk_bytes),
                  session.patches == 1 ? "1 patch" : WithCommas(session.patches) + " patches"));
  if (session.recorder_gaps > 0)
    add("gaps",
        fmt::format("{} in the recording: it is not complete", WithCommas(session.recorder_gaps)));
  facts.Print(console, 2);
}

void PrintBuffers(Console& console, const SessionSummary& session) {
  if (session.buffers.empty()) return;
  Table table({{"buffer", Align::kRight},
               {"size", Align::kRight},
               {"policy", Align::kLeft},
               {"engine", Align::kLeft}});
  for (const BufferSetUp& buffer : session.buffers) {
    table.AddRow({std::to_string(Raw(buffer.id)), HumanSize(buffer.size), Name(buffer.policy),
                  buffer.engine.empty() ? "-" : Printable(buffer.engine)});
  }
  console.Print("\n");
  table.Print(console, 2);
}

void PrintProducers(Console& console, const SessionSummary& session) {
  if (session.producers.empty()) return;
  Table table({{"producer", Align::kRight},
               {"name", Align::kLeft},
               {"uid", Align::kRight},
               {"pid", Align::kRight},
               {"sdk", Align::kLeft}});
  for (const ProducerConnected& producer : session.producers) {
    table.AddRow({std::to_string(Raw(producer.producer)), Printable(producer.name),
                  std::to_string(producer.uid), std::to_string(producer.pid),
                  Printable(producer.sdk)});
  }
  console.Print("\n");
  table.Print(console, 2);
}

void PrintSequences(Console& console, const SessionSummary& session) {
  if (session.sequences.empty()) return;
  std::map<ProducerId, std::string> names;
  for (const ProducerConnected& producer : session.producers)
    names[producer.producer] = producer.name;
  const uint64_t duration = Duration(session);
  Table table({{"sequence", Align::kLeft},
               {"producer", Align::kLeft},
               {"buffer", Align::kRight},
               {"commits", Align::kRight},
               {"chunks", Align::kRight},
               {"patches", Align::kRight},
               {"packets", Align::kRight},
               {"packets/s", Align::kRight},
               {"bytes", Align::kRight},
               {"bytes/s", Align::kRight}});
  for (const SequenceSummary& sequence : session.sequences) {
    const auto name = names.find(sequence.sequence.producer);
    const double bytes = static_cast<double>(sequence.bytes);
    const std::string byte_rate =
        duration == 0
            ? "-"
            : HumanSize(static_cast<uint64_t>(bytes * 1e9 / static_cast<double>(duration)));
    table.AddRow({ToString(sequence.sequence), name == names.end() ? "-" : Printable(name->second),
                  std::to_string(Raw(sequence.buffer)), WithCommas(sequence.commits),
                  WithCommas(sequence.chunks), WithCommas(sequence.patches),
                  WithCommas(sequence.packets), HumanRate(sequence.packets, duration),
                  HumanSize(sequence.bytes), byte_rate});
  }
  console.Print("\n");
  table.Print(console, 2);
  if (session.truncated)
    console.Print("  There are more than can be listed; the totals above count them all.\n");
}

Json SessionJson(uint64_t number, const SessionSummary& session) {
  const LogHeader& header = session.header;
  Json json = {{"session", number},
               {"uuid", header.uuid},
               {"tool", header.tool},
               {"source", Name(header.source)},
               {"description", header.description},
               {"host", header.host},
               {"clock", header.clock},
               {"first_record", session.first_record},
               {"records", session.records},
               {"first_time_ns", OrNull(session.first_time_ns)},
               {"last_time_ns", OrNull(session.last_time_ns)},
               {"duration_ns", Duration(session)}};
  json["kinds"] = Json::object();
  for (size_t kind = 0; kind < kOpKinds; ++kind)
    if (session.counts[kind] > 0) json["kinds"][OpKindName(kind)] = session.counts[kind];
  json["chunks"] = session.chunks;
  json["chunk_bytes"] = session.chunk_bytes;
  json["patches"] = session.patches;
  json["recorder_gaps"] = session.recorder_gaps;
  json["truncated"] = session.truncated;
  json["buffers"] = Json::array();
  for (const BufferSetUp& buffer : session.buffers) {
    json["buffers"].push_back({{"buffer", Raw(buffer.id)},
                               {"size", buffer.size},
                               {"policy", Name(buffer.policy)},
                               {"engine", buffer.engine}});
  }
  json["producers"] = Json::array();
  for (const ProducerConnected& producer : session.producers) {
    json["producers"].push_back({{"producer", Raw(producer.producer)},
                                 {"name", producer.name},
                                 {"uid", producer.uid},
                                 {"pid", producer.pid},
                                 {"sdk", producer.sdk}});
  }
  json["sequences"] = Json::array();
  for (const SequenceSummary& sequence : session.sequences) {
    json["sequences"].push_back({{"sequence", ToString(sequence.sequence)},
                                 {"buffer", Raw(sequence.buffer)},
                                 {"commits", sequence.commits},
                                 {"chunks", sequence.chunks},
                                 {"patches", sequence.patches},
                                 {"packets", sequence.packets},
                                 {"bytes", sequence.bytes},
                                 {"first_time_ns", OrNull(sequence.first_time_ns)},
                                 {"last_time_ns", OrNull(sequence.last_time_ns)}});
  }
  return json;
}

std::string IntegrityText(const LogInfo& info) {
  if (info.damage_count > 0)
    return fmt::format(
        "damaged in {}; 'ringscope verify' lists them, 'ringscope repair' writes a "
        "clean copy",
        Count(info.damage_count, "place"));
  if (info.format != LogFormat::kCommitLog) return "reads without errors";
  if (info.from_index)
    return "cleanly closed; this is what its index says ('ringscope verify' checks the records)";
  return info.cleanly_closed ? "cleanly closed, no damage found"
                             : "no damage found, but no index for the whole file";
}

/// As documents write it.
const char* FormatId(LogFormat format) {
  switch (format) {
    case LogFormat::kCommitLog:
      return "commit_log";
    case LogFormat::kOps:
      return "ops";
    case LogFormat::kZstdOps:
      return "ops_zstd";
  }
  return "unknown";
}

}  // namespace

const char* FormatName(LogFormat format) {
  switch (format) {
    case LogFormat::kCommitLog:
      return "commit log";
    case LogFormat::kOps:
      return "operations";
    case LogFormat::kZstdOps:
      return "operations, zstd-compressed";
  }
  return "log";
}

std::string ExtentText(const LogInfo& info) {
  uint64_t records = 0;
  for (const SessionSummary& session : info.sessions) records += session.records;
  std::string text = fmt::format("{}, {}, {}", Count(info.sessions.size(), "session"),
                                 Count(records, "record"), HumanSize(info.file_bytes));
  if (info.data_frames > 0) text += fmt::format(" in {}", Count(info.data_frames, "frame"));
  if (info.raw_bytes > 0) text += fmt::format(" ({} raw)", HumanSize(info.raw_bytes));
  return text;
}

Json DamageJson(const std::vector<Damage>& damage) {
  Json list = Json::array();
  for (const Damage& piece : damage) {
    list.push_back({{"offset", piece.offset},
                    {"bytes", piece.bytes},
                    {"first_record", OrNull(piece.first_record)},
                    {"records", OrNull(piece.records)},
                    {"what", piece.what}});
  }
  return list;
}

void PrintInfo(Console& console, const std::string& path, const LogInfo& info,
               std::optional<uint64_t> only) {
  console.Print(fmt::format("{}: {}: {}\n", console.Bold(Printable(path)), FormatName(info.format),
                            ExtentText(info)));
  console.Print(fmt::format("{}\n", IntegrityText(info)));
  for (size_t i = 0; i < info.sessions.size(); ++i) {
    if (only && *only != i + 1) continue;
    console.Print(fmt::format("\n{}\n", console.Bold(fmt::format("session {}", i + 1))));
    PrintFacts(console, info.sessions[i]);
    PrintBuffers(console, info.sessions[i]);
    PrintProducers(console, info.sessions[i]);
    PrintSequences(console, info.sessions[i]);
  }
}

Json InfoJson(const std::string& path, const LogInfo& info, std::optional<uint64_t> only) {
  Json document = JsonDocument("info");
  document["input"] = path;
  document["format"] = FormatId(info.format);
  document["file_bytes"] = info.file_bytes;
  document["raw_bytes"] = info.raw_bytes;
  document["data_frames"] = info.data_frames;
  document["from_index"] = info.from_index;
  document["cleanly_closed"] = info.cleanly_closed;
  document["damage_count"] = info.damage_count;
  document["damage"] = DamageJson(info.damage);
  document["sessions"] = Json::array();
  for (size_t i = 0; i < info.sessions.size(); ++i) {
    if (!only || *only == i + 1)
      document["sessions"].push_back(SessionJson(i + 1, info.sessions[i]));
  }
  return document;
}

}  // namespace ringscope
