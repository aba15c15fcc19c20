#include <fmt/format.h>

#include <charconv>

#include "commands/record/recording_run.h"
#include "commands/shell/commands.h"
#include "commands/shell/config_file.h"
#include "commands/shell/options.h"
#include "commands/shell/values.h"

namespace ringscope {
namespace {

constexpr int kMinLevel = -200;
constexpr int kMaxRecordLevel = 19;  // above, zstd needs memory out of proportion
constexpr uint64_t kMinQueue = 1 << 20;
constexpr uint64_t kMinKeep = 1 << 20;
constexpr uint64_t kMinPart = 64 << 10;

/// "1=64MiB,discard"
Result<BufferSetUp> ParseBufferChoice(std::string_view text) {
  const size_t equals = text.find('=');
  const size_t comma = text.find(',');
  if (equals == std::string_view::npos || (comma != std::string_view::npos && comma < equals)) {
    return Fail(ErrorCode::kUsage, fmt::format("'{}' is not a buffer; write it like 1=64MiB,"
                                               "ring_buffer",
                                               text));
  }
  BufferSetUp choice;
  RS_ASSIGN_OR_RETURN(const uint64_t id, ParseNumber(text.substr(0, equals), UINT16_MAX));
  choice.id = BufferId{static_cast<uint16_t>(id)};
  const std::string_view rest = text.substr(equals + 1);
  RS_ASSIGN_OR_RETURN(choice.size, ParseBufferSize(rest.substr(0, rest.find(','))));
  if (comma != std::string_view::npos) {
    RS_ASSIGN_OR_RETURN(choice.policy, ParsePolicy(text.substr(comma + 1)));
  }
  return choice;
}

/// "0660"
Result<uint32_t> ParseMode(std::string_view text) {
  uint32_t mode = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (error == std::errc() && stop == text.data() + text.size() && mode <= 0777) return mode;
  return Fail(ErrorCode::kUsage,
              fmt::format("'{}' is not a set of permissions; write it like 0600 or 0666", text));
}

template <uint64_t kLeast>
Result<uint64_t> ParseLeast(std::string_view text) {
  return ParseSizeFrom(text, kLeast);
}

void SetUp(CLI::App& app, RecordArgs& args) {
  InGroup(app, "What to record");
  AddTexts(app, "PROGRAM", args.command, "PROGRAM",
           "A program to record, with its arguments, after --; its environment names the "
           "sockets, and the recording ends when it ends");
  AddParsed(app, "--duration", args.duration_ns, ParsePositiveDuration, "TIME",
            "Stop after this time (default: at SIGINT or SIGTERM, or when PROGRAM ends)");
  AddText(app, "--compare", args.compare, kFileType,
          "At the end, replay the log and compare with this trace (.pftrace), which PROGRAM or a "
          "consumer has written by then");
  AddFlag(app, "--stop-now", args.stop_now,
          "At the end do not wait for sessions that a consumer still has through the recorder");
  const auto add_socket = [&app](const char* name, std::string& target, const char* description) {
    AddText(app, name, target, "SOCKET", description);
  };
  InGroup(app, "Sockets");
  add_socket("--listen", args.recorder.producer.listen,
             "Where producers connect: a path, or @NAME (default: /tmp/ringscope-producer; with "
             "PROGRAM a new path)");
  add_socket("--connect", args.recorder.producer.connect,
             "The service's producer socket (default: PERFETTO_PRODUCER_SOCK_NAME, else "
             "Perfetto's default path)");
  add_socket("--consumer-listen", args.consumer.listen,
             "Where consumers connect; this records the trace config, its buffers and reads");
  add_socket("--consumer-connect", args.consumer.connect,
             "The service's consumer socket (default: PERFETTO_CONSUMER_SOCK_NAME, else "
             "Perfetto's default path)");
  AddParsed(app, "--mode", args.recorder.mode, ParseMode, "OCTAL",
            "Permissions of the sockets that record creates (default: 0600)");
  InGroup(app, "Service");
  AddConfig(
      app, args.config,
      "The trace config as text (.pbtxt), for the buffers' sizes, if no consumer is recorded");
  AddParsedList(app, "--buffer", args.recorder.buffers, ParseBufferChoice, "ID=SIZE,POLICY",
                "Size and fill policy of the service's buffer ID; may be repeated");
  AddChoice(
      app, "--smb-looks", args.looks, {"auto", "off"},
      "Log which chunks of the producers' shared memory are in use, and whose they are. auto: "
      "before each commit, and while chunks are in use, with at most a twentieth of one CPU's "
      "time (default: auto)");
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.log.path, kFileType,
          "Log to write (.tblog); it grows while it is recorded", Need::kRequired);
  AddFlag(app, "--no-payload", args.no_payload,
          "Leave out the content of packets, and keep their sizes, kinds, times and flags: no "
          "trace can be made of the log. Configs, names of producers, uids and pids are in it");
  AddParsed(app, "--max-size", args.log.max_size, ParseLeast<kMinPart>, "SIZE",
            "Continue in another file, the next part, when one has this size (FILE.0001.tblog, "
            "...); naming one part to a command reads all of them");
  AddParsed(app, "--keep", args.log.keep, ParseLeast<kMinKeep>, "SIZE",
            "Keep about this much: remove the oldest part when a new one begins, for a recording "
            "of any length (without --max-size, parts are a sixteenth of it)");
  AddFlag(app, "--force", args.log.replace,
          "Replace an older recording of that name, with all of its parts");
  AddParsed(app, "--queue", args.queue_bytes, ParseLeast<kMinQueue>, "SIZE",
            "Memory for data that waits for a slow disk; more is dropped (default: 128MiB)");
  args.format = "text";
  AddFormat(app, args.format, {"text", "json"});
  AddNumber(app, "--level", args.log.level, {kMinLevel, kMaxRecordLevel}, "N",
            "Compression level of zstd, -200 (fast) to 19 (default: 1)");
}

}  // namespace

Command RecordCommand() {
  return {
      "record",
      "Record",
      "Record a live session, between its producers and the service",
      "Runs between producers and Perfetto's tracing service: producers connect to ringscope, "
      "which forwards everything they send to the service. It logs what they commit: chunks "
      "from shared memory, patches, flushes, writers and data sources. If the consumer also "
      "connects to ringscope, its trace config and reads are logged as well. The service's "
      "scraping of uncommitted chunks cannot be observed; therefore it is switched off for "
      "these producers, and ringscope scrapes instead. A slow disk never delays the session: "
      "data that could not be written is reported in the log as a recorder gap. On a full disk "
      "it keeps what fits in memory (--queue), and writes again as soon as there is space. "
      "The file is locked while it is recorded.",
      {{"ringscope record -o cap.tblog -- ./my_app", "Record a program until it ends"},
       {"ringscope record -o cap.tblog --consumer-listen /tmp/ringscope-consumer",
        "Record everything that connects to /tmp/ringscope-producer, and the consumer"},
       {"ringscope record -o cap.tblog --keep 2GiB", "Record for weeks; the last 2 GiB are kept"},
       {"ringscope record -o cap.tblog --no-payload --keep 2GiB",
        "The same, always on, without the content of packets"},
       {"ringscope record -o cap.tblog --buffer 1=64MiB,ring_buffer --duration 10s",
        "Record ten seconds of a service whose buffer is known"}},
      Bind(SetUp, RunRecord),
      {.notice = "Done, but the log has gaps, its replay differs from the trace, or PROGRAM "
                 "failed.",
       .failed = "Failed, or the log could not be written to its end. The message reports "
                 "where, what was expected, and what to do."}};
}

}  // namespace ringscope
