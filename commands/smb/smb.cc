#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "commands/common/session_loop.h"
#include "commands/common/session_reader.h"
#include "commands/report/report.h"
#include "commands/shell/commands.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "commands/shell/values.h"
#include "commands/smb/smb_report.h"

namespace ringscope {
namespace {

struct SmbArgs {
  std::string log;
  std::string format = "text";
  std::optional<uint64_t> session;
  std::optional<uint64_t> producer;
  std::optional<uint64_t> at_ns;  // after the session's start
};

void SetUp(CLI::App& app, SmbArgs& args) {
  AddLog(app, args.log);
  AddSession(app, args.session);
  InGroup(app, "Selection");
  AddParsed(
      app, "--producer", args.producer,
      [](std::string_view text) { return ParseNumber(text, UINT16_MAX); }, "ID",
      "Only this producer");
  AddParsed(app, "--at", args.at_ns, ParseDuration, "TIME",
            "Draw the pages and chunks as the last look up to this time after the start of the "
            "session shows them, like 1.5s");
  InGroup(app, kOutputGroup);
  AddFormat(app, args.format, {"text", "json"});
}

/// Memories of producers that left, as many as are listed.
constexpr size_t kMostEnded = 1000;

/// One session: its memories, and a picture of them at one moment.
class SmbSession {
 public:
  SmbSession(const SmbArgs& args, Report& report) : args_(args), report_(report) {}

  Result<ExitCode> Run(SessionReader& sessions) {
    uint64_t records = 0;
    std::optional<uint64_t> last_ns;
    while (true) {
      RS_ASSIGN_OR_RETURN(const std::optional<Op> op, sessions.Next());
      if (!op) break;
      records += IsDamage(op->body) ? 0 : 1;
      if (op->time_ns) {
        if (!start_ns_) start_ns_ = op->time_ns;
        last_ns = op->time_ns;
      }
      if (IsPastMoment(*op)) Draw();
      Note(*op);
      story_.Add(*op);
    }
    if (args_.at_ns) Draw();
    const uint64_t start = start_ns_.value_or(0);
    ReportTitle(report_, {.path = sessions.path(),
                          .session = sessions.session(),
                          .records = records,
                          .duration_ns = last_ns.value_or(start) - start});
    report_.Data({{"session", sessions.session()}, {"start_ns", start}});
    std::vector<const smb::MemoryFollower*> memories;
    for (const smb::MemoryFollower* const memory : story_.Memories())
      if (Wants(memory->use().producer)) memories.push_back(memory);
    ReportMemories(report_, memories, producers_, start);
    report_.Data("memories_not_listed", story_.unlisted());
    if (story_.unlisted() > 0)
      report_.Paragraph(fmt::format("The memory of {} that left is not listed.",
                                    Count(story_.unlisted(), "further producer")));
    for (const smb::MemoryFollower& memory : drawn_)
      ReportPicture(report_, memory, producers_, start);
    return ExitCode::kClean;
  }

 private:
  bool Wants(ProducerId producer) const {
    return !args_.producer || *args_.producer == Raw(producer);
  }
  bool IsPastMoment(const Op& op) const {
    return args_.at_ns && !is_drawn_ && op.time_ns && *op.time_ns > *start_ns_ &&
           *op.time_ns - *start_ns_ > *args_.at_ns;
  }
  void Note(const Op& op) {
    const auto* connected = std::get_if<ProducerConnected>(&op.body);
    if (connected == nullptr) return;
    producers_[connected->producer] = {connected->name, connected->smb_size_hint,
                                       connected->page_size_hint};
  }
  /// Keeps the memories as they are now.
  void Draw() {
    if (std::exchange(is_drawn_, true)) return;
    for (const auto& [id, producer] : producers_) {
      const smb::MemoryFollower* const memory = story_.Of(id);
      if (memory != nullptr && Wants(id)) drawn_.push_back(*memory);
    }
  }

  const SmbArgs& args_;
  Report& report_;
  smb::MemoryStory story_{kMostEnded};
  SmbProducers producers_;
  std::vector<smb::MemoryFollower> drawn_;
  bool is_drawn_ = false;
  std::optional<uint64_t> start_ns_;
};

Result<ExitCode> RunSmb(const SmbArgs& args, Context& context) {
  SessionReader sessions(context, {.paths = {args.log}, .only = args.session}, "reading");
  Report report(context.console, args.format, "smb");
  RS_ASSIGN_OR_RETURN(const ExitCode code, ReportSessions(sessions, report, [&] {
                        return SmbSession(args, report).Run(sessions);
                      }));
  RS_RETURN_IF_ERROR(report.Finish());
  return code;
}

}  // namespace

Command SmbCommand() {
  return {"smb",
          "Explain",
          "Show how full the producers' shared memory was, and with what",
          "Each producer writes into chunks of a shared memory buffer, which the service empties. "
          "Where no chunk is free its packets are dropped, or its writers wait, and the buffers of "
          "the service never hear of it. 'ringscope record' looks at the page headers of this "
          "memory from time to time; smb shows what these looks show: size and page layout, how "
          "many chunks were in use, by writers, held back by the producer, or waiting for the "
          "service; for how long no chunk was free; and how long chunks took from step to step. "
          "What happens between two looks is not seen: times are from what the looks prove to what "
          "they allow.",
          {{"ringscope smb session.tblog", "Was the shared memory full?"},
           {"ringscope smb --producer 2 --at 1.5s session.tblog",
            "Which writers had which chunks of this producer then?"}},
          Bind(SetUp, RunSmb)};
}

}  // namespace ringscope
