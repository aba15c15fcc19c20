#include "commands/replays/input_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "commands/replays/session_reader.h"
#include "commands/shell/text.h"
#include "core/perfetto/packet_facts.h"
#include "formats/inputs/input_kind.h"
#include "formats/io/file_lock.h"

namespace ringscope {
namespace {

/// Messages on what was counted, each if there is any.
struct ImportNote {
  uint64_t TraceImportReport::*count;
  const char* noun;
  const char* text;
};
constexpr ImportNote kImportNotes[] = {
    {&TraceImportReport::untimed, "packet",
     "{} without a timestamp: placed after the previous packet of the sequence"},
    {&TraceImportReport::late, "packet",
     "{} with an earlier timestamp than the previous packet of the sequence: placed after it"},
    {&TraceImportReport::guessed_sizes, "buffer",
     "the trace does not contain the size of {}: assumed {}"},
    {&TraceImportReport::guessed_sequences, "sequence",
     "the trace does not show which buffer {} wrote to: assumed buffer 0"},
    {&TraceImportReport::empty, "packet", "left out {} without content"},
};

/// Prints what was imported of a session.
void SaySession(const TraceImportReport& report, const std::string& session, Console& console) {
  console.Say(session +
              fmt::format("{} ({}) of {} by {}, in {}", Count(report.packets, "packet"),
                          HumanSize(report.packet_bytes), Count(report.sequences, "sequence"),
                          Count(report.producers, "producer"), Count(report.chunks, "chunk")));
  if (!report.has_config)
    console.Say("the trace has no trace config, so its buffers are not described");
  for (const ImportNote& note : kImportNotes)
    if (report.*note.count > 0)
      console.Say(fmt::format(fmt::runtime(note.text), Count(report.*note.count, note.noun),
                              HumanSize(TraceSession::kDefaultBufferSize)));
  std::vector<std::string> left_out;
  for (const auto& [content, count] : report.left_out)
    left_out.push_back(fmt::format("{} {}", count, ContentName(content)));
  if (!left_out.empty())
    console.Say("left out packets that the service wrote: " + Joined(left_out));
  if (report.gaps + report.counted_losses > 0)
    console.Say(
        fmt::format("the trace reports losses, {} within its sequences and {} in its statistics: "
                    "they are gaps in the log",
                    WithCommas(report.gaps), WithCommas(report.counted_losses)));
}

/// Returns true if all of a trace's packets are in the log that was made of it.
bool IsComplete(const TraceLog& log) {
  return log.damage_count == 0 && std::ranges::all_of(log.sessions, [](const auto& session) {
           return session.malformed == 0 && session.beyond_limits == 0;
         });
}

}  // namespace

void WarnOfDamage(Console& console, const std::string& path, const std::vector<Damage>& damage,
                  uint64_t count) {
  constexpr size_t kShown = 10;
  const size_t shown = std::min(kShown, damage.size());
  for (size_t i = 0; i < shown; ++i)
    console.Warn(fmt::format("{}: damaged {}", path, damage[i].ToString()));
  if (count > shown)
    console.Warn(fmt::format("{}: damaged in {} more; 'ringscope verify' lists them", path,
                             Count(count - shown, "place")));
}

std::string NotClosedText(const std::string& path, std::optional<uint64_t> duration_ns) {
  const std::string until = duration_ns
                                ? fmt::format("its last record is {} after its session's first",
                                              HumanDuration(*duration_ns))
                                : "it has no times";
  if (const auto by = RecordedBy(path))
    return fmt::format("the log is {}; {}, and what follows is missing", *by, until);
  return fmt::format("the log was not closed: {}, and what followed may be missing", until);
}

std::string StartMissingText(const LogHeader& header) {
  const std::string start = fmt::format(
      "the log begins with part {} of a recording: the records before are missing", header.part);
  if (header.repeated_records == 0)
    return start + ", also those that set up its buffers, producers and writers";
  return start +
         ", so that buffers which were there before are replayed from empty. Packets of chunks "
         "that were committed before are missing, and the first packet of a sequence may have "
         "other loss flags. When all of such a ring buffer has been written once, it holds what "
         "the service's did, except at its write position, which is not known. Buffers that are "
         "set up later are exact";
}

void WarnOfUnknownTimes(Console& console, const std::string& path, const SessionClock& clock) {
  if (clock.base() != TimeBase::kWall || clock.wall_offset_ns()) return;
  console.Warn(
      fmt::format("{}: no clock snapshot of the log shows the time of day, so times are "
                  "'?'; --time session shows them",
                  path));
}

std::string Shortened(const std::vector<std::string>& names) {
  constexpr size_t kShown = 3;
  std::vector<std::string> shown;
  for (size_t i = 0; i < names.size() && i < kShown; ++i) shown.push_back(Printable(names[i]));
  return Joined(shown) +
         (names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "");
}

Result<ScannedTrace> ScanTrace(Context& context, std::unique_ptr<ByteSource> source) {
  const std::string path = source->path();
  Progress progress(context.console, fmt::format("examining {}", Printable(path)));
  const auto update = [&](uint64_t done, uint64_t total) { progress.Update(done, total); };
  return InFile(path, ScanTraceFile(std::move(source), update));
}

void SayImported(const TraceLog& log, Console& console) {
  const size_t sessions = log.sessions.size();
  if (sessions > 1)
    console.Say(
        fmt::format("the trace has {}: each is a session of the log", Count(sessions, "session")));
  for (size_t i = 0; i < sessions; ++i)
    SaySession(log.sessions[i], sessions > 1 ? fmt::format("session {}: ", i + 1) : "", console);
  console.Say("packets that were lost before the trace was written are unknown");
}

ExitCode WarnOfTraceLog(Console& console, const std::string& path, const TraceLog& log) {
  WarnOfDamage(console, path, log.damage, log.damage_count);
  uint64_t malformed = 0, beyond_limits = 0, packets = 0;
  for (const TraceImportReport& session : log.sessions) {
    malformed += session.malformed;
    beyond_limits += session.beyond_limits;
    packets += session.packets;
  }
  if (malformed > 0)
    console.Warn(fmt::format("{} left out: not well-formed, or with fields that no producer writes",
                             Count(malformed, "packet")));
  if (beyond_limits > 0)
    console.Warn(fmt::format("{} left out: at most {} sequences are possible",
                             Count(beyond_limits, "packet"),
                             WithCommas(TraceImport::kMaxSequences)));
  if (packets == 0) console.Warn("the trace has no packets of producers");
  return IsComplete(log) ? ExitCode::kClean : ExitCode::kNotice;
}

Result<TraceLog> ImportTrace(Context& context, TraceLogOptions options,
                             std::unique_ptr<ByteSource> source, ByteSink& sink) {
  Progress progress(context.console, fmt::format("importing {}", Printable(options.path)));
  options.on_read = [&](uint64_t done, uint64_t total) { progress.Update(done, total); };
  return WriteTraceLog(options, std::move(source), sink);
}

}  // namespace ringscope
