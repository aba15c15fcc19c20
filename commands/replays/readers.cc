#include "commands/replays/readers.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/replays/muted_context.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

LedgerTotals SumOf(const std::map<BufferId, LedgerTotals>& totals) {
  LedgerTotals sum;
  for (const auto& [id, buffer] : totals) sum += buffer;
  return sum;
}

/// "overwritten 120, cleared 3": the fates of what is lost, or of what is neither lost nor read.
std::string FatesText(const LedgerTotals& totals, bool lost) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < kFates; ++i) {
    const auto fate = static_cast<Fate>(i);
    if (fate == Fate::kRead || IsLoss(fate) != lost || totals[fate].packets == 0) continue;
    std::string name = Name(fate);
    std::replace(name.begin(), name.end(), '_', ' ');
    parts.push_back(fmt::format("{} {}", WithCommas(totals[fate].packets), name));
  }
  return Joined(parts);
}

Json FatesJson(const LedgerTotals& totals) {
  Json fates = Json::object();
  for (size_t i = 0; i < kFates; ++i) {
    const FateCount& count = totals.by_fate[i];
    fates[Name(static_cast<Fate>(i))] = {{"packets", count.packets}, {"bytes", count.bytes}};
  }
  return fates;
}

bool IsStandardInput(const std::vector<std::string>& paths) {
  return std::find(paths.begin(), paths.end(), "-") != paths.end();
}

void AddReaders(Report& report, const std::vector<ReaderOutcome>& readers) {
  Table table({{"reader"},
               DataColumn("clone"),
               {"written", Align::kRight, "written.packets"},
               DataColumn("written.bytes"),
               {"read", Align::kRight, "read.packets"},
               DataColumn("read.bytes"),
               {"lost", Align::kRight, "lost.packets"},
               DataColumn("lost.bytes"),
               {"", Align::kRight},
               DataColumn("fates")});
  std::string details;
  for (const ReaderOutcome& reader : readers) {
    const LedgerTotals& totals = reader.totals;
    const std::string name = reader.clone ? fmt::format("clone {}", *reader.clone) : "session";
    table.AddRow({name, DataCell(reader.clone ? Json(*reader.clone) : Json()),
                  CountCell(totals.written.packets), DataCell(totals.written.bytes),
                  CountCell(totals[Fate::kRead].packets), DataCell(totals[Fate::kRead].bytes),
                  CountCell(totals.lost().packets), DataCell(totals.lost().bytes),
                  Percent(totals.lost().packets, totals.written.packets),
                  DataCell(FatesJson(totals))});
    const std::string lost = FatesText(totals, /*lost=*/true);
    const std::string kept = FatesText(totals, /*lost=*/false);
    if (!lost.empty()) details += Wrap(fmt::format("{} lost: {}", name, lost), 2) + "\n";
    if (!kept.empty()) details += Wrap(fmt::format("{} did not read: {}", name, kept), 2) + "\n";
  }
  report.Data("readers", table.ToJson());
  report.Section("Packets by reader: what one lost, another may have", table, 2);
  report.Print(details);
}

}  // namespace

bool HasClones(const ReplayOutcome& session) {
  return !session.clone && std::any_of(session.clones.begin(), session.clones.end(),
                                       [](const CloneFacts& clone) { return !clone.failed; });
}

SessionSelection SelectClone(const std::vector<std::string>& paths, const ReplayOutcome& session,
                             const CloneFacts& clone) {
  return {.paths = paths,
          .only = session.session,
          .quiet = true,
          .view = CloneView{clone.clone, clone.buffers, clone.is_in_file}};
}

Result<std::vector<ReaderOutcome>> ReplayReaders(Context& context,
                                                 const std::vector<std::string>& paths,
                                                 const ReplayOutcome& session,
                                                 const ReplayChoices& choices,
                                                 const std::map<BufferId, LedgerTotals>* own) {
  MutedContext muted(context);
  const auto replay = [&](const SessionSelection& selection) -> Result<LedgerTotals> {
    SessionReader sessions(muted.context(), selection, "replaying");
    RS_RETURN_IF_ERROR(sessions.NextSession());
    ReplayRun run(muted.context(), sessions, choices);
    run.KeepAccounts();
    RS_RETURN_IF_ERROR(run.ToEnd());
    return SumOf(run.totals());
  };
  std::vector<ReaderOutcome> readers(1);
  if (own != nullptr) {
    readers.front().totals = SumOf(*own);
  } else {
    RS_ASSIGN_OR_RETURN(readers.front().totals,
                        replay({.paths = paths, .only = session.session, .quiet = true}));
  }
  for (const CloneFacts& clone : session.clones) {
    if (clone.failed) continue;
    ReaderOutcome& reader = readers.emplace_back();
    reader.clone = clone.clone;
    RS_ASSIGN_OR_RETURN(reader.totals, replay(SelectClone(paths, session, clone)));
  }
  return readers;
}

Status ReportReaders(Report& report, Context& context, const std::vector<std::string>& paths,
                     const ReplayOutcome& session, const ReplayChoices& choices,
                     const std::map<BufferId, LedgerTotals>* own) {
  if (session.clone) return {};
  for (const CloneFacts& clone : session.clones)
    if (clone.failed)
      report.Print("\n" +
                   Wrap(fmt::format("Clone {} was not made{}{}.", clone.clone,
                                    clone.error.empty() ? "" : ": ", Printable(clone.error)),
                        size_t{0}) +
                   "\n");
  if (!HasClones(session)) return {};
  if (IsStandardInput(paths)) {
    report.Data("readers", Json());
    report.Print(
        "\n" +
        Wrap(fmt::format("This is what the session's own consumer has. The session has {} too, "
                         "which may have other packets; as standard input can be read only once, "
                         "name the log's file, or choose a clone with --clone.",
                         Count(session.clones.size(), "clone")),
             size_t{0}) +
        "\n");
    return {};
  }
  RS_ASSIGN_OR_RETURN(const std::vector<ReaderOutcome> readers,
                      ReplayReaders(context, paths, session, choices, own));
  AddReaders(report, readers);
  return {};
}

}  // namespace ringscope
