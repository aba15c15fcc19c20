#include <fmt/format.h>
#include <sys/epoll.h>

#include <charconv>

#include "commands/record/event_loop.h"
#include "commands/record/log_queue.h"
#include "commands/record/recorder.h"
#include "commands/session/session_reader.h"
#include "commands/session/session_view.h"
#include "commands/session/trace_check.h"
#include "commands/shell/commands.h"
#include "commands/shell/options.h"
#include "commands/view/report.h"

namespace ringscope {
namespace {

struct RecordArgs {
  RecorderOptions recorder;  // sockets that are empty: defaults
  PortSockets consumer;      // both empty: consumers are not recorded
  LogFilesOptions log;
  uint64_t queue_bytes = uint64_t{128} << 20;
  std::optional<uint64_t> duration_ns;
  std::string compare;            // a trace that the replay is to equal; empty: none
  Format format = Format::kText;  // of the summary
  std::vector<std::string> command;
};

constexpr const char* kProducerVariable = "PERFETTO_PRODUCER_SOCK_NAME";
constexpr const char* kConsumerVariable = "PERFETTO_CONSUMER_SOCK_NAME";
constexpr std::chrono::milliseconds kTick{250};
/// Time that the last frames of clients may take to reach the service, and a program to end.
constexpr std::chrono::seconds kEndTimeout{3};
/// About one client, or of one text.
constexpr uint64_t kMaxWarnings = 5;
constexpr uint64_t kPartsKept = 16;  // unless the parts' size is chosen

/// "12 records (1.2MiB) in 2 gaps could not be written in time"; "none".
std::string DroppedText(const LogQueue::State& queue) {
  if (queue.gaps == 0) return "none";
  return fmt::format("{} ({}) in {} could not be written in time",
                     Count(queue.dropped_records, "record"), HumanSize(queue.dropped_bytes),
                     Count(queue.gaps, "gap"));
}

/// "cap.tblog", "cap.tblog and 3 further parts", "parts 7 to 22 of cap.tblog (those before were
/// removed)"
std::string FilesText(const LogFiles& files, const std::string& output) {
  const uint32_t last = files.parts() - 1;
  if (last == 0) return output;
  if (files.first_part() == 0) return fmt::format("{} and {}", output, Count(last, "further part"));
  return fmt::format("parts {} to {} of {} (those before were removed: --keep)", files.first_part(),
                     last, output);
}

/// Reports if producers connect to the service directly.
std::string UnseenText(const Verdicts& verdicts, uint64_t checks) {
  if (LacksProducers(verdicts)) return "some take part: see below";
  if (checks == 0) return "not known: the service was not asked";
  return fmt::format("none take part, as the service reported {}", Count(checks, "time"));
}

/// One run of the command: sets everything up, waits for the end, reports.
class RecordingRun {
 public:
  RecordingRun(const RecordArgs& args, Context& context) : args_(args), context_(context) {}

  Result<ExitCode> Run() {
    RS_ASSIGN_OR_RETURN(loop_, EventLoop::Create());
    RS_ASSIGN_OR_RETURN(const RecorderOptions options, MakeOptions());
    RS_ASSIGN_OR_RETURN(SignalWatch signals, SignalWatch::Create());
    // A log of nothing would be in the way of the next try.
    if (!args_.command.empty()) RS_RETURN_IF_ERROR(ChildProcess::Check(args_.command.front()));
    // The sockets first: where another recorder has them, its log may be the same file.
    RS_ASSIGN_OR_RETURN(std::vector<Listener> listeners, Recorder::Listen(options));
    RS_ASSIGN_OR_RETURN(log_, OpenLog());
    RS_ASSIGN_OR_RETURN(recorder_, Recorder::Create(*loop_, options, std::move(listeners), *log_,
                                                    [this](const std::string& text, int32_t pid) {
                                                      Warn(text, pid);
                                                    }));
    SayWhatIsRecorded(options);
    recorder_->CheckService();
    EventLoop::WatchHandle signal_watch;
    RS_ASSIGN_OR_RETURN(signal_watch, loop_->Watch(signals.fd(), EPOLLIN, [&](uint32_t) {
      signals.Take();
      const bool is_first = !stop_;
      Stop(RecordingEnding::kSignal);
      if (is_first) return;
      stop_now_ = true;
      signal_watch.reset();
      signals.Restore();
    }));
    EventLoop::Timer duration;
    if (args_.duration_ns) {
      duration = loop_->CallAfter(std::chrono::nanoseconds(*args_.duration_ns),
                                  [this] { Stop(RecordingEnding::kDuration); });
    }
    RS_RETURN_IF_ERROR(StartCommand(options));
    OnTick();
    loop_->RunUntil([this] { return stop_; });
    Drain();
    EndCommand();
    if (const uint64_t served = recorder_->consumers_served(); served > 0)
      context_.console.Warn(
          fmt::format("the recording's end cut {} short", Count(served, "session")));
    recorder_->Stop();
    const EventLoop::Timer timeout =
        loop_->CallAfter(kEndTimeout, [this] { recorder_->Abandon(); });
    loop_->RunUntil([this] { return recorder_->stopped(); });
    return Finish();
  }

 private:
  Result<RecorderOptions> MakeOptions() const {
    RecorderOptions options = args_.recorder;
    const std::string suffix = args_.command.empty() ? "" : fmt::format("-{}", ::getpid());
    const auto complete = [&](PortSockets& sockets, const char* kind, const char* variable,
                              const char* option) -> Status {
      if (sockets.listen.empty()) sockets.listen = fmt::format("/tmp/ringscope-{}{}", kind, suffix);
      if (sockets.connect.empty()) sockets.connect = DefaultServiceSocket(variable, kind);
      if (sockets.listen != sockets.connect) return {};
      return Fail(
          ErrorCode::kUsage,
          fmt::format("'{}' is both the service's socket and the recorder's", sockets.listen), {},
          fmt::format("choose another with {}", option));
    };
    RS_RETURN_IF_ERROR(complete(options.producer, "producer", kProducerVariable, "--listen"));
    if (!args_.consumer.listen.empty() || !args_.consumer.connect.empty())
      RS_RETURN_IF_ERROR(complete(options.consumer.emplace(args_.consumer), "consumer",
                                  kConsumerVariable, "--consumer-listen"));
    options.looks = true;
    return options;
  }

  Result<std::unique_ptr<LogQueue>> OpenLog() {
    LogFilesOptions files_options = args_.log;
    if (const auto keep = files_options.keep) {
      if (!files_options.max_size) files_options.max_size = *keep / kPartsKept;
      if (*files_options.max_size > *keep / 2)
        return Fail(ErrorCode::kUsage, "--max-size is more than half of --keep", {},
                    "at least two parts must fit: make the parts smaller, or keep more");
    }
    files_options.header = LiveHeader();
    RS_ASSIGN_OR_RETURN(auto files, LogFiles::Create(std::move(files_options)));
    return LogQueue::Create(std::move(files), {.capacity = static_cast<size_t>(args_.queue_bytes)});
  }

  Status StartCommand(const RecorderOptions& options) {
    if (args_.command.empty()) return {};
    ::setenv(kProducerVariable, options.producer.listen.c_str(), /*overwrite=*/1);
    if (options.consumer) ::setenv(kConsumerVariable, options.consumer->listen.c_str(), 1);
    RS_ASSIGN_OR_RETURN(command_, ChildProcess::Start(args_.command));
    return command_->WatchEnd(*loop_, [this](std::string ending) {
      command_ending_ = std::move(ending);
      Stop(RecordingEnding::kProgram);
    });
  }

  void SayWhatIsRecorded(const RecorderOptions& options) {
    Console& console = context_.console;
    const auto say = [&](const PortSockets& sockets, const char* clients, const char* variable) {
      console.Say(fmt::format("{} connect to {} and are forwarded to {}", clients, sockets.listen,
                              sockets.connect));
      if (args_.command.empty())
        console.Say(fmt::format("  for their environment: {}={}", variable, sockets.listen));
    };
    say(options.producer, "producers", kProducerVariable);
    if (options.consumer) say(*options.consumer, "consumers", kConsumerVariable);
    if (!options.consumer && options.buffers.empty())
      console.Warn(
          "the buffers' sizes are not known, but a replay needs them: record the consumer "
          "too (--consumer-listen), or give --buffer");
  }

  /// @param pid of the client that it is about; -1: of none
  void Warn(const std::string& text, int32_t pid = -1) {
    const uint64_t count = ++warnings_[{pid, pid < 0 ? text : std::string()}];
    if (count > kMaxWarnings) return;
    context_.console.Warn(text);
    if (count == kMaxWarnings)
      context_.console.Warn(pid < 0
                                ? std::string("this warning is not repeated any more")
                                : fmt::format("further warnings about pid {} are not shown", pid));
  }

  void OnTick() {
    const LogQueue::State queue = log_->state();
    if (queue.waiting.has_value() != std::exchange(waits_for_disk_, queue.waiting.has_value()))
      Warn(queue.waiting
               ? fmt::format("{}; it is tried again each second, and up to {} are kept in memory",
                             queue.waiting->ToString(), HumanSize(args_.queue_bytes))
               : "writing the log has resumed");
    if (queue.gaps > 0 && !std::exchange(gaps_reported_, true))
      Warn("the log cannot be written fast enough: records are dropped (recorder gaps)");
    ReportFailure();
    tick_ = loop_->CallAfter(kTick, [this] { OnTick(); });
  }

  /// Lets the sessions end that consumers have through the recorder.
  void Drain() {
    const uint64_t served = recorder_->consumers_served();
    if (served == 0 || stop_now_) return;
    recorder_->StopListening();
    context_.console.Say(
        fmt::format("recording until the end of {}; no more clients can connect; a second signal "
                    "ends it now",
                    Count(served, "session")));
    loop_->RunUntil([this] { return stop_now_ || recorder_->consumers_served() == 0; });
  }

  void EndCommand() {
    if (command_ == nullptr || command_ending_) return;
    command_->Terminate();
    bool late = false;
    const EventLoop::Timer timeout = loop_->CallAfter(kEndTimeout, [&late] { late = true; });
    loop_->RunUntil([&] { return command_ending_ || late; });
    if (!command_ending_)
      Warn(fmt::format("{} (pid {}) does not end: it continues without the service",
                       args_.command.front(), command_->pid()));
  }

  void ReportFailure() {
    const std::optional<Error> failure = log_->state().failure;
    if (!failure || std::exchange(failure_reported_, true)) return;
    context_.console.PrintError(
        fmt::format("recording has stopped: {}; the session continues", failure->ToString()));
  }

  /// Replays the log, and compares with the trace that was asked for.
  Result<TraceCheck> Compare() {
    KeptText ignored;
    Streams silent{context_.console.streams().out, ignored, {}, true};
    Console console(silent);
    Context muted{console, context_.threads, context_.files};
    SessionReader sessions(muted, {.paths = {args_.log.path}}, "comparing");
    RS_ASSIGN_OR_RETURN(const bool any, sessions.NextSession());
    if (!any) return Fail(ErrorCode::kCorrupt, "the log has no session", {args_.log.path, {}, {}});
    return CheckWithTrace(muted, sessions, {}, args_.compare, 0);
  }

  /// Text goes to standard error, below the recorder's other messages; a document to standard
  /// output.
  /// @param check nullptr: no comparison was asked for, or it has failed
  void ReportSummary(const RecordingEnded& seen, const LogQueue::State& queue,
                     const TraceCheck* check) {
    constexpr size_t kIndent = 2;
    Console& console = context_.console;
    const LogFiles& files = log_->files();
    const RecordCounts& counts = recorder_->counts();
    const std::string& output = args_.log.path;
    Report report(console, args_.format, "record");
    Table facts({{.title = ""}, {.title = ""}});
    const auto add = [&](const char* title, const std::string& text, Json data) {
      facts.AddRow({title, text});
      report.Data(std::move(data));
    };
    report.Data({{"exact", seen.verdicts.empty()}, {"inexact", FieldsToJson(seen.verdicts)}});
    add("written",
        fmt::format("{}, {}", FilesText(files, output), HumanSize(files.bytes_written())),
        {{"output", output},
         {"ending", Name(seen.ending)},
         {"first_part", files.first_part()},
         {"parts", files.parts()},
         {"file_bytes", files.bytes_written()}});
    add("sessions", WithCommas(seen.sessions), {{"sessions", seen.sessions}});
    add("producers",
        fmt::format("{}, {}", WithCommas(seen.producers), Count(counts.sequences, "sequence")),
        {{"producers", seen.producers}, {"sequences", counts.sequences}});
    add("others", UnseenText(seen.verdicts, counts.checks), {{"producers_checked", counts.checks}});
    add("chunks", fmt::format("{}, {}", WithCommas(counts.chunks), HumanSize(counts.chunk_bytes)),
        {{"chunks", counts.chunks}, {"chunk_bytes", counts.chunk_bytes}});
    add("dropped", DroppedText(queue),
        {{"recorder_gaps", queue.gaps},
         {"dropped_records", queue.dropped_records},
         {"dropped_bytes", queue.dropped_bytes}});
    const bool differs = check != nullptr && !check->Same();
    report.Data("compared", Json());
    if (check != nullptr) {
      const OutputDiff& diff = check->diff;
      const std::string trace = Printable(args_.compare);
      add("compared",
          check->recorded
              ? fmt::format("its replay differs from {} where the log has the reads: {}", trace,
                            CountsText(*check->recorded))
              : ComparedText(diff, {fmt::format("its replay equals {}: {}", trace,
                                                Count(diff.packets.b, "packet")),
                                    "its replay differs from " + trace}),
          {{"compared",
            {{"trace", args_.compare},
             {"same", !differs},
             {"packets", diff.packets.b},
             {"counts", FieldsToJson(diff.counts)}}}});
    }
    facts.AddRow({"next", differs ? fmt::format("ringscope diff {} {}", output, args_.compare)
                                  : "ringscope info " + output});
    if (report.is_json()) {
      static_cast<void>(report.Finish());
      return static_cast<void>(console.Flush());
    }
    std::string text = Wrap(VerdictSentence(seen.verdicts, counts.chunks == 0), size_t{0}) + "\n" +
                       VerdictLines(seen.verdicts, kIndent) + facts.Text(kIndent);
    while (text.ends_with('\n')) text.pop_back();
    console.Say(text);
  }

  ExitCode Finish() {
    Console& console = context_.console;
    const Status closed = log_->Close(ending_);
    ReportFailure();
    const bool command_failed = command_ending_ && !command_ending_->empty();
    if (command_failed) console.Warn(fmt::format("{} {}", args_.command.front(), *command_ending_));
    if (!closed) return ExitCode::kFailed;
    const LogQueue::State queue = log_->state();
    if (queue.gaps > 0) console.Warn("the log is incomplete: " + DroppedText(queue));
    std::optional<Result<TraceCheck>> compared;
    if (!args_.compare.empty()) compared = Compare();
    const TraceCheck* const check = compared && *compared ? &**compared : nullptr;
    ReportSummary(log_->files().Ended(ending_), queue, check);
    if (compared && !*compared) {
      console.PrintError(fmt::format("the log could not be compared with {}: {}", args_.compare,
                                     compared->error().ToString()));
      return ExitCode::kFailed;
    }
    const bool differs = check != nullptr && !check->Same();
    return queue.gaps > 0 || command_failed || differs ? ExitCode::kNotice : ExitCode::kClean;
  }

  /// Ends the recording; the first reason counts.
  void Stop(RecordingEnding why) {
    if (!std::exchange(stop_, true)) ending_ = why;
  }

  const RecordArgs& args_;
  Context& context_;
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<LogQueue> log_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<ChildProcess> command_;
  std::optional<std::string> command_ending_;  // once it has ended; empty: with status 0
  bool stop_ = false;                          // no more clients; the sessions end first
  bool stop_now_ = false;                      // nothing is waited for
  bool failure_reported_ = false;
  bool waits_for_disk_ = false;
  bool gaps_reported_ = false;
  RecordingEnding ending_ = RecordingEnding::kUnknown;
  /// By client, or by text if it is about none.
  std::map<std::pair<int32_t, std::string>, uint64_t> warnings_;
  EventLoop::Timer tick_;
};

Result<ExitCode> RunRecord(const RecordArgs& args, Context& context) {
  if (args.log.without_payload && !args.compare.empty())
    return Fail(ErrorCode::kUsage,
                "--compare needs what is in the packets, and --no-payload leaves it out", {},
                "choose one of them");
  if (args.compare == "-")
    return Fail(ErrorCode::kUsage, "--compare cannot read the trace from standard input", {},
                "name a file, which is read once the recording has ended");
  return RecordingRun(args, context).Run();
}

constexpr int kMinLevel = -200;
constexpr int kMaxRecordLevel = 19;      // above, zstd needs memory out of proportion
constexpr uint64_t kMinBytes = 1 << 20;  // of the queue, and of what is kept
constexpr uint64_t kMinPart = 64 << 10;

/// "1=64MiB,discard"
Result<BufferSetUp> ParseBufferChoice(std::string_view text) {
  const size_t equals = text.find('=');
  const size_t comma = text.find(',');
  if (equals == std::string_view::npos || (comma != std::string_view::npos && comma < equals))
    return UsageError("'{}' is not a buffer; write it like 1=64MiB,ring_buffer", text);
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
  return UsageError("'{}' is not a set of permissions; write it like 0600 or 0666", text);
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
  InGroup(app, "Sockets");
  AddText(app, "--listen", args.recorder.producer.listen, "SOCKET",
          "Where producers connect: a path, or @NAME (default: /tmp/ringscope-producer; with "
          "PROGRAM a new path)");
  AddText(app, "--connect", args.recorder.producer.connect, "SOCKET",
          "The service's producer socket (default: PERFETTO_PRODUCER_SOCK_NAME, else "
          "Perfetto's default path)");
  AddText(app, "--consumer-listen", args.consumer.listen, "SOCKET",
          "Where consumers connect; this records the trace config, its buffers and reads");
  AddText(app, "--consumer-connect", args.consumer.connect, "SOCKET",
          "The service's consumer socket (default: PERFETTO_CONSUMER_SOCK_NAME, else "
          "Perfetto's default path)");
  AddParsed(app, "--mode", args.recorder.mode, ParseMode, "OCTAL",
            "Permissions of the sockets that record creates (default: 0600)");
  InGroup(app, "Service");
  AddParsedList(app, "--buffer", args.recorder.buffers, ParseBufferChoice, "ID=SIZE,POLICY",
                "Size and fill policy of the service's buffer ID; may be repeated");
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.log.path, kFileType,
          "Log to write (.tblog); it grows while it is recorded", Need::kRequired);
  AddFlag(app, "--no-payload", args.log.without_payload,
          "Leave out the content of packets, and keep their sizes, kinds, times and flags: no "
          "trace can be made of the log. Configs, names of producers, uids and pids are in it");
  AddParsed(app, "--max-size", args.log.max_size, SizeFrom(kMinPart), "SIZE",
            "Continue in another file, the next part, when one has this size (FILE.0001.tblog, "
            "...); naming one part to a command reads all of them");
  AddParsed(app, "--keep", args.log.keep, SizeFrom(kMinBytes), "SIZE",
            "Keep about this much: remove the oldest part when a new one begins, for a recording "
            "of any length (without --max-size, parts are a sixteenth of it)");
  AddFlag(app, "--force", args.log.replace,
          "Replace an older recording of that name, with all of its parts");
  AddParsed(app, "--queue", args.queue_bytes, SizeFrom(kMinBytes), "SIZE",
            "Memory for data that waits for a slow disk; more is dropped (default: 128MiB)");
  AddFormat(app, args.format, {Format::kText, Format::kJson});
  AddNumber(app, "--level", args.log.level, {kMinLevel, kMaxRecordLevel}, "N",
            "Compression level of zstd, -200 (fast) to 19 (default: 1)");
}

}  // namespace

Command RecordCommand() {
  return {
      "record",
      "Record a live session, between its producers and the service",
      "Runs between producers and Perfetto's tracing service: producers connect to ringscope, "
      "which forwards everything they send to the service. The log has what they commit: chunks "
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
