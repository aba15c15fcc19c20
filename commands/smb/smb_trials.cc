#include "commands/smb/smb_trials.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/shell/text.h"

namespace ringscope {
namespace {

using smb::MemoryDemand;
using smb::MemoryTrial;
using smb::WhenNoneIsFree;

constexpr size_t kTrialIndent = 2;

/// "3", "3 (1 to 5)", "3 (1 or more)", "3 or more", "none", "none shown"
std::string RefusedText(const smb::DropOutcome& drop, const MemoryTrial& trial,
                        const MemoryDemand& demand) {
  if (trial.page_size != demand.page_size) return "about " + WithCommas(drop.refused);
  const std::string refused = drop.refused == 0 ? "none" : WithCommas(drop.refused);
  if (drop.most == drop.least) return refused;
  if (drop.most)
    return fmt::format("{} ({} to {})", refused, WithCommas(drop.least), WithCommas(*drop.most));
  if (drop.refused == 0) return "none shown";
  if (trial.is_recorded || drop.least == drop.refused) return refused + " or more";
  return fmt::format("{} ({} or more)", refused, WithCommas(drop.least));
}

/// "5", "5, 2 gave up", "5, all gave up"
std::string WaitsText(const smb::StallOutcome& stall) {
  if (stall.gave_up > 0 && stall.gave_up == stall.waits)
    return WithCommas(stall.waits) + ", all gave up";
  return WithCommas(stall.waits) +
         (stall.gave_up > 0 ? ", " + WithCommas(stall.gave_up) + " gave up" : "");
}

std::string WaitedText(const smb::StallOutcome& stall) {
  if (stall.late_ns == 0) return "none";
  if (stall.early_ns == stall.late_ns) return HumanDuration(stall.waited_ns);
  return fmt::format("{} ({} to {})", HumanDuration(stall.waited_ns), HumanDuration(stall.early_ns),
                     HumanDuration(stall.late_ns));
}

std::string QuietText(const std::optional<uint64_t>& ns) {
  return ns ? HumanDuration(*ns) : std::string("any time");
}

template <typename T>
Json TrialJson(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

/// A trial as a row for programs.
void AddTrialRow(const MemoryTrial& trial, const MemoryDemand& demand, uint64_t session,
                 Table& rows) {
  std::vector<Cell> cells = DataCells({session, Raw(demand.producer), trial.size, trial.page_size,
                                       trial.chunks, trial.is_recorded, demand.is_known()});
  const auto add = [&](Json value) { cells.push_back(DataCell(std::move(value))); };
  const auto& drop = trial.drop;
  add(drop ? Json(drop->refused) : Json());
  add(drop && trial.page_size == demand.page_size ? Json(drop->least) : Json());
  add(drop ? TrialJson(drop->most) : Json());
  add(drop ? TrialJson(drop->packets) : Json());
  add(drop ? Json(drop->peak) : Json());
  add(drop ? Json(drop->full_ns) : Json());
  const auto& stall = trial.stall;
  for (const uint64_t smb::StallOutcome::*member :
       {&smb::StallOutcome::waits, &smb::StallOutcome::waited_ns, &smb::StallOutcome::early_ns,
        &smb::StallOutcome::late_ns, &smb::StallOutcome::longest_ns, &smb::StallOutcome::gave_up})
    add(stall ? Json((*stall).*member) : Json());
  add(TrialJson(trial.quiet.simulated_ns));
  add(TrialJson(trial.quiet.mean_ns));
  add(TrialJson(trial.quiet.peak_ns));
  rows.AddRow(std::move(cells));
}

/// The sizes to try with pages of a size, ascending.
std::vector<uint64_t> SizesFor(const SmbTrialChoices& choices, const MemoryDemand& demand,
                               uint64_t page_size) {
  std::vector<uint64_t> sizes = choices.sizes;
  if (sizes.empty())
    for (const uint64_t size :
         {demand.size / 4, demand.size / 2, demand.size, demand.size * 2, demand.size * 4})
      if (size <= std::max(demand.size, smb::kMaxMemoryBytes)) sizes.push_back(size);
  std::erase_if(sizes, [&](uint64_t size) { return size < page_size || size % page_size != 0; });
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

/// The tables for people, filled row by row.
class TrialTables {
 public:
  void Add(const std::string& producer, const MemoryTrial& trial, const MemoryDemand& demand) {
    std::vector<Cell> first = {producer,
                               Cell(HumanSize(trial.size) + (trial.is_recorded ? " *" : "  ")),
                               Cell(HumanSize(trial.page_size))};
    const auto row = [&](std::vector<Cell> more) {
      std::vector<Cell> cells = first;
      cells.insert(cells.end(), more.begin(), more.end());
      return cells;
    };
    if (trial.drop)
      drop_.AddRow(row({CountCell(trial.chunks), CountCell(trial.drop->peak),
                        Cell(RefusedText(*trial.drop, trial, demand)),
                        trial.drop->packets ? CountCell(*trial.drop->packets) : Cell("?")}));
    if (trial.stall)
      stall_.AddRow(row({Cell(WaitsText(*trial.stall)), Cell(WaitedText(*trial.stall)),
                         Cell(trial.stall->waits == 0 ? std::string("none")
                                                      : HumanDuration(trial.stall->longest_ns))}));
    quiet_.AddRow(
        row({Cell(QuietText(trial.quiet.simulated_ns)), Cell(QuietText(trial.quiet.mean_ns)),
             Cell(QuietText(trial.quiet.peak_ns))}));
  }
  void Report(ringscope::Report& report) const {
    report.Section("if writers drop packets when no chunk is free", drop_, kTrialIndent);
    report.Section("if writers wait for a chunk", stall_, kTrialIndent);
    report.Section("for how long the service may free no chunk", quiet_, kTrialIndent);
  }

 private:
  static std::vector<Column> Columns(std::vector<Column> more) {
    std::vector<Column> columns = {
        {"producer"}, {"size  ", Align::kRight}, {"pages", Align::kRight}};
    columns.insert(columns.end(), more.begin(), more.end());
    return columns;
  }
  Table drop_{Columns({{"chunks", Align::kRight},
                       {"most used", Align::kRight},
                       {"refused", Align::kRight},
                       {"packets", Align::kRight}})};
  Table stall_{
      Columns({{"waits", Align::kRight}, {"waited", Align::kRight}, {"longest", Align::kRight}})};
  Table quiet_{Columns({{"simulated", Align::kRight},
                        {"size / mean rate", Align::kRight},
                        {"size / peak rate", Align::kRight}})};
};

/// What the trials rest on.
std::vector<std::string> Assumptions(const std::vector<MemoryDemand>& demands,
                                     const SmbTrialChoices& choices) {
  std::vector<std::string> texts = {
      "Writers ask for the same chunks at the same times as recorded. The producer commits each "
      "chunk as long after its return, and the service frees it as long after the commit, as it "
      "did; chunks that fill half of the memory are committed at once."};
  if (choices.Has(WhenNoneIsFree::kDrop))
    texts.emplace_back(
        "At least one and at most all of the packets that begin in a refused chunk are lost: the "
        "writer tries again after about 1 KiB.");
  if (choices.Has(WhenNoneIsFree::kStall))
    texts.emplace_back(
        "A waiting writer delays everything that it does afterwards by the same time. It searches "
        "again after Perfetto's pauses (0 to 37 ms, then 100 ms each), and stops waiting after 300 "
        "searches (29.3 s).");
  const auto any = [&](auto test) { return std::any_of(demands.begin(), demands.end(), test); };
  if (any([](const MemoryDemand& demand) { return demand.losses > 0; }))
    texts.emplace_back(
        "Packets were dropped in the recording. What they needed is not in the log: for other "
        "sizes "
        "their writers are assumed to have kept their pace, and no upper limit is known.");
  else if (any([](const MemoryDemand& demand) { return !demand.was_free; }))
    texts.emplace_back(
        "Looks do not prove that a chunk was free at all times. A writer that found none and wrote "
        "nothing afterwards left no sign, so no upper limit is known.");
  for (const MemoryDemand& demand : demands) {
    if (demand.early.requests == 0) continue;
    texts.push_back(fmt::format(
        "{} of producer {} had so many chunks that filling half of the memory may be why they were "
        "sent then. In another memory they may be sent later{}.",
        Count(demand.early.requests, "request"), Raw(demand.producer),
        demand.early.delay_ns > 0
            ? fmt::format(": after {}, the longest time that another request was held back; the "
                          "limits allow for more",
                          HumanDuration(demand.early.delay_ns))
            : std::string("; the limits allow for that")));
  }
  if (any([](const MemoryDemand& demand) { return demand.is_partial; }))
    texts.emplace_back(
        "Looks are missing, or there were more chunks than are simulated: there was more demand.");
  if (any([&](const MemoryDemand& demand) {
        return std::any_of(choices.pages.begin(), choices.pages.end(),
                           [&](uint64_t page) { return page != demand.page_size; });
      }))
    texts.emplace_back(
        "With other page sizes, writers fill a chunk evenly from its start to its return: the "
        "figures are estimates, without limits.");
  return texts;
}

/// "The log shows 2 losses of 1 app: ..."
std::string LossesText(const MemoryDemand& demand, const std::string& producer) {
  return fmt::format(
      "The log shows {} of {}: {} by an aborted packet, {} between packets, by the flag of the "
      "next "
      "one. During {} of them a look shows no free chunk.",
      demand.losses == 1 ? "1 loss" : WithCommas(demand.losses) + " losses", producer,
      WithCommas(demand.losses - demand.between_packets), WithCommas(demand.between_packets),
      WithCommas(demand.seen_full));
}

Json DemandJson(const MemoryDemand& demand) {
  return {{"producer", Raw(demand.producer)},
          {"uses", demand.uses.size()},
          {"assumed_uses", demand.assumed.size()},
          {"losses", demand.losses},
          {"losses_between_packets", demand.between_packets},
          {"losses_with_full_look", demand.seen_full},
          {"half_full_requests", demand.early.requests},
          {"longest_hold_ns", demand.early.delay_ns},
          {"is_partial", demand.is_partial},
          {"was_always_free", demand.was_free}};
}

}  // namespace

bool SmbTrialChoices::Has(WhenNoneIsFree policy) const {
  return policies.empty() || std::find(policies.begin(), policies.end(), policy) != policies.end();
}

Table SmbTrialRows() {
  std::vector<Column> columns;
  for (const char* const key : {"session",
                                "producer",
                                "size",
                                "page_size",
                                "chunks",
                                "is_recorded",
                                "is_demand_known",
                                "refused",
                                "refused_at_least",
                                "refused_at_most",
                                "refused_packets",
                                "most_used",
                                "full_ns",
                                "waits",
                                "waited_ns",
                                "waited_early_ns",
                                "waited_late_ns",
                                "longest_wait_ns",
                                "gave_up",
                                "quiet_simulated_ns",
                                "quiet_by_mean_rate_ns",
                                "quiet_by_peak_rate_ns"})
    columns.push_back(DataColumn(key));
  return Table(std::move(columns));
}

SmbTrials TryMemories(const std::vector<const smb::MemoryFollower*>& memories,
                      const SmbTrialChoices& choices) {
  SmbTrials tried;
  for (const smb::MemoryFollower* const memory : memories) {
    std::optional<MemoryDemand> demand = memory->Demand();
    if (!demand) continue;
    std::vector<uint64_t> pages = choices.pages;
    if (pages.empty()) pages.push_back(demand->page_size);
    for (const uint64_t page : pages) {
      const smb::MemoryTrials trials(*demand, page);
      for (const uint64_t size : SizesFor(choices, *demand, page))
        tried.trials.push_back(
            {tried.demands.size(), trials.Try(size, choices.Has(WhenNoneIsFree::kDrop),
                                              choices.Has(WhenNoneIsFree::kStall))});
    }
    tried.demands.push_back(*std::move(demand));
  }
  return tried;
}

void AddTrialRows(const SmbTrials& trials, uint64_t session, Table& rows) {
  for (const auto& [demand, outcome] : trials.trials)
    AddTrialRow(outcome, trials.demands[demand], session, rows);
}

void ReportTrials(Report& report, const SmbTrials& trials, const SmbProducers& producers,
                  const SmbTrialChoices& choices, uint64_t session) {
  const std::vector<MemoryDemand>& demands = trials.demands;
  Json shown = Json::array();
  for (const MemoryDemand& demand : demands) shown.push_back(DemandJson(demand));
  Table rows = SmbTrialRows();
  AddTrialRows(trials, session, rows);
  report.Data({{"demands", std::move(shown)}, {"trials", rows.ToJson()}});
  if (demands.empty()) {
    report.Data("trials_assume", Json::array());
    report.Print("\n");
    report.Paragraph("Other sizes cannot be tried: the log has no looks at this memory.");
    return;
  }
  TrialTables tables;
  for (const auto& [demand, outcome] : trials.trials)
    tables.Add(SmbProducerText(demands[demand].producer, producers), outcome, demands[demand]);
  tables.Report(report);
  const std::vector<std::string> assumptions = Assumptions(demands, choices);
  report.Data("trials_assume", Json(assumptions));
  report.Print("\n");
  report.Paragraph(
      "(*: as recorded. Refused: requests that found no free chunk. The recorded row has the "
      "losses that the log shows. Last table: how long the service may free nothing, counted from "
      "the worst moment.)");
  for (const MemoryDemand& demand : demands) {
    if (demand.losses == 0) continue;
    report.Print("\n");
    report.Paragraph(LossesText(demand, SmbProducerText(demand.producer, producers)));
  }
  report.Print("\n");
  report.Paragraph("Assumed:");
  for (const std::string& text : assumptions) report.Print(Wrap(text, "- ") + "\n");
}

}  // namespace ringscope
