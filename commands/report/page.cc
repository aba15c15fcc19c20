#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "commands/report/page_results.h"
#include "commands/report/page_sections.h"
#include "commands/shell/commands.h"
#include "commands/shell/options.h"
#include "commands/shell/output.h"
#include "commands/shell/spooled_input.h"
#include "formats/draw/html.h"

namespace ringscope {
namespace {

struct PageArgs {
  PageChoices choices;
  std::string output;  // empty: standard output
  bool force = false;
};

void SetUp(CLI::App& app, PageArgs& args) {
  AddLog(app, args.choices.path);
  AddSession(app, args.choices.session);
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.output, kFileType, "Write to this file; - for standard output");
  AddForce(app, args.force);
  AddFlag(app, "--quick", args.choices.quick,
          "Leave out what takes many replays: the sweep over buffer sizes, and the advice");
}

Result<ExitCode> RunPage(const PageArgs& args, Context& context) {
  RS_RETURN_IF_ERROR(CheckOutputName(args.output, "a page", {".html", ".htm"}));
  RS_ASSIGN_OR_RETURN(
      const std::unique_ptr<OutputFile> file,
      CreateOutput(context, args.output.empty() ? "-" : args.output, kPageOutput, args.force));
  std::unique_ptr<SpooledInput> standard_input;
  if (args.choices.path == "-") {
    RS_ASSIGN_OR_RETURN(standard_input, SpooledInput::Read(context));
  }
  RS_ASSIGN_OR_RETURN(const PageResults page, GatherPage(context, args.choices));
  RS_RETURN_IF_ERROR(file->Write(PageHtml(page)));
  RS_RETURN_IF_ERROR(file->Commit());
  if (file->path() != "-") context.console.Say(fmt::format("wrote {}", file->path()));
  return page.code;
}

}  // namespace

Command ReportCommand() {
  return {
      "report",
      "Explain",
      "Write a page on a session to attach to a bug",
      "Writes one HTML file on a session of a log or a Perfetto trace: the answer, what became of "
      "the packets, loss over time, who overwrote whom, the gaps with their chunks, what would "
      "help, the layout of the buffers, what is wrong with the trace, what happened when, the "
      "trace config, and where all of it comes from, each with the command that gives the same "
      "figures. The file needs nothing from elsewhere, has less than 2 MB for any session, and can "
      "be read without JavaScript; with it, tables can be sorted and filtered, and charts zoomed.",
      {{"ringscope report session.tblog -o report.html", "A page for a bug report"},
       {"ringscope report trace.pftrace -o report.html", "The same of a trace alone"},
       {"ringscope report --quick session.tblog -o report.html",
        "The same without what takes many replays"}},
      Bind(SetUp, RunPage),
      {.clean = "Done; the file was written."}};
}

}  // namespace ringscope
