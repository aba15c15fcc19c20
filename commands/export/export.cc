#include "commands/session/examined.h"
#include "commands/shell/commands.h"
#include "formats/descriptors/described_kinds.h"
#include "formats/sqlite/sqlite_export.h"

namespace ringscope {
namespace {

struct ExportArgs {
  SessionSelection input;
  std::string output;
  bool force = false;
  ReplayChoices choices;
};

void SetUp(CLI::App& app, ExportArgs& args) {
  AddReplayOptions(app, args.choices);
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.output, kFileType, "The database to write (.db)",
          Need::kRequired);
  AddForce(app, args.force);
}

Result<ExitCode> RunExport(const ExportArgs& args, SessionReader& sessions, Context& context) {
  RS_RETURN_IF_ERROR(CheckOutputName(args.output, "a database", {".db", ".sqlite"}));
  if (args.output == "-")
    return Fail(ErrorCode::kUsage, "a database cannot be written to standard output", {},
                "name a file with --output");
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<SqliteExport> database,
                      SqliteExport::Create(args.output, ReplaceBy(args.force)));
  uint64_t count = 0;
  uint64_t lost = 0;
  while (true) {
    RS_ASSIGN_OR_RETURN(const bool more, sessions.NextSession());
    if (!more) break;
    DescribedKinds kinds;
    ExportSink sink(*database, sessions.session(), kinds);
    ReplayRun run(context, sessions, args.choices);
    run.AddSink(sink.gaps());
    run.AddSink(sink);
    run.AddListener(sink);
    run.AddListener(sink.gaps());
    RS_ASSIGN_OR_RETURN(const ReplayOutcome outcome, run.ToEnd());
    RS_RETURN_IF_ERROR(sink.Finish(outcome, run.totals()));
    ++count;
    lost += sink.lost_packets();
  }
  {
    Progress progress(context.console, "indexing " + Printable(args.output));
    progress.Show();
    RS_RETURN_IF_ERROR(database->Commit());
  }
  context.console.Say(fmt::format("wrote {}: {}, {} written, {} lost", args.output,
                                  Count(count, "session"), Count(database->packets(), "packet"),
                                  WithCommas(lost)));
  return sessions.Finish();
}

}  // namespace

Command ExportCommand() {
  return {"export",
          "Write what happened to every packet into a SQLite database",
          "Replays like 'ringscope replay' and writes one SQLite file: a row for each packet that "
          "was written, with its fate and the cause, and tables of the sessions, buffers, "
          "producers, sequences, chunks, reads, gaps and counters. The views "
          "data_loss, culprits and stalls answer the most common questions; ringscope-export(1) "
          "and '.schema' describe the tables.",
          {{"ringscope export session.tblog -o case.db", "Make the database"},
           {"sqlite3 -box case.db 'SELECT * FROM culprits'", "Who overwrote whom?"},
           {"ringscope export --size 16MiB session.tblog -o large.db",
            "The same with larger buffers, to compare"}},
          BindSessions({.activity = "exporting"}, SetUp, RunExport)};
}

}  // namespace ringscope
