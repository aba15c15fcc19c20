#include "commands/sizes/sweep_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "commands/shell/text.h"

namespace ringscope {
namespace {

constexpr size_t kMaxColumns = 7;  // sizes side by side

/// Sums over buffers, and over sessions and logs.
struct SweepSum {
  uint64_t written = 0;  // packets
  uint64_t kept = 0;
  uint64_t lost = 0;
  std::optional<uint64_t> shortest_ns;

  void Add(const std::vector<SweepRow>& rows) {
    for (const SweepRow& row : rows) {
      written += row.written.packets;
      kept += row.kept_packets();
      lost += row.lost_packets();
      if (row.shortest_sequence)
        shortest_ns = std::min(shortest_ns.value_or(UINT64_MAX), row.shortest_history_ns);
    }
  }
  /// Lost a larger share than the other.
  bool WorseThan(const SweepSum& other) const {
    return static_cast<double>(lost) * static_cast<double>(std::max<uint64_t>(other.written, 1)) >
           static_cast<double>(other.lost) * static_cast<double>(std::max<uint64_t>(written, 1));
  }
};

/// A configuration's sums over all logs.
struct Total {
  SweptKey key;
  SweepSum sum;
  std::map<size_t, SweepSum> by_log;  // by index; logs that were swept in this configuration
  size_t worst_log = 0;               // the one that lost the largest share
  size_t shortest_log = 0;

  void Finish() {
    worst_log = by_log.begin()->first;
    for (const auto& [log, own] : by_log) {
      sum.written += own.written;
      sum.kept += own.kept;
      sum.lost += own.lost;
      if (own.WorseThan(worst())) worst_log = log;
      if (own.shortest_ns && *own.shortest_ns < sum.shortest_ns.value_or(UINT64_MAX)) {
        sum.shortest_ns = own.shortest_ns;
        shortest_log = log;
      }
    }
  }
  const SweepSum& worst() const { return by_log.at(worst_log); }
  uint64_t logs_with_loss() const {
    return static_cast<uint64_t>(std::count_if(
        by_log.begin(), by_log.end(), [](const auto& entry) { return entry.second.lost > 0; }));
  }
};

/// In the order in which the logs have them.
std::vector<Total> TotalsOf(const SweepLogs& logs) {
  std::vector<Total> totals;
  std::map<SweptKey, size_t> slots;
  for (size_t i = 0; i < logs.size(); ++i) {
    for (const SweptSession& session : logs[i].sessions) {
      for (const SweptConfiguration& configuration : session.configurations) {
        const auto [slot, is_new] = slots.try_emplace(configuration.key, totals.size());
        if (is_new) totals.emplace_back().key = configuration.key;
        totals[slot->second].by_log[i].Add(configuration.buffers);
      }
    }
  }
  for (Total& total : totals) total.Finish();
  return totals;
}

/// The largest of the sizes found, over all logs, for a setting and its targets.
struct TargetTotal {
  SweptSetting setting;
  std::vector<std::string> target;
  uint64_t sessions = 0;
  uint64_t met = 0;
  std::optional<uint64_t> largest_size;
  std::optional<std::string> largest_log;
};
template <typename Io>
void ListFields(Io& io, TargetTotal& total) {
  ListFields(io, total.setting);
  io("target", total.target, "sessions", total.sessions, "met", total.met, "largest_size",
     total.largest_size, "largest_log", total.largest_log);
}

std::vector<TargetTotal> TargetTotals(const SweepLogs& logs) {
  std::vector<TargetTotal> totals;
  for (const LogResult<SweptSession>& log : logs) {
    for (const SweptSession& session : log.sessions) {
      for (const FoundBuffers& found : session.targets) {
        auto total = std::find_if(totals.begin(), totals.end(), [&](const TargetTotal& entry) {
          return entry.setting == found.setting && entry.target == found.target;
        });
        if (total == totals.end())
          total = totals.insert(totals.end(), {.setting = found.setting, .target = found.target});
        ++total->sessions;
        total->met += found.found ? 1 : 0;
        for (const FoundBuffer& buffer : found.buffers) {
          if (total->largest_size && *total->largest_size >= buffer.size) continue;
          total->largest_size = buffer.size;
          total->largest_log = log.status.log;
        }
      }
    }
  }
  return totals;
}

std::string SettingName(const SweptSetting& setting) {
  return fmt::format("{}, {}, reads: {}{}{}",
                     setting.engine ? Printable(*setting.engine) : "the logs' engines",
                     setting.policy ? Name(*setting.policy) : "the logs' policies",
                     Printable(setting.reads), setting.reads_assumed ? " (assumed)" : "",
                     setting.programs ? ", programs: " + Printable(*setting.programs) : "");
}

std::string SizeName(const SweptKey& key) {
  if (key.scale) return fmt::format("{:.4g}x", *key.scale);
  return key.size ? HumanSize(*key.size) : "as given";
}

/// At most kMaxColumns of these, the first and the last among them.
std::vector<const Total*> Thinned(std::vector<const Total*> totals) {
  if (totals.size() <= kMaxColumns) return totals;
  std::vector<const Total*> some;
  for (size_t i = 0; i < kMaxColumns; ++i)
    some.push_back(totals[i * (totals.size() - 1) / (kMaxColumns - 1)]);
  return some;
}

/// @param totals of one setting
Table LossTable(const SweepLogs& logs, const LogNames& names,
                const std::vector<const Total*>& totals) {
  std::vector<Column> columns = {{"log", Align::kLeft}, {"written", Align::kRight}};
  for (const Total* total : totals) columns.push_back({SizeName(total->key), Align::kRight});
  Table table(columns);
  for (size_t i = 0; i < logs.size(); ++i) {
    // Logs may differ in when they are read: then this one was swept in another setting.
    const bool is_swept = std::any_of(totals.begin(), totals.end(), [i](const Total* total) {
      return total->by_log.contains(i);
    });
    if (!is_swept && !logs[i].sessions.empty()) continue;
    std::vector<Cell> cells = {names.names[i]};
    if (logs[i].status.error) {
      cells.emplace_back("failed");
    } else if (logs[i].sessions.empty()) {
      cells.emplace_back("no records");
    } else {
      std::vector<SweepSum> sums;
      for (const Total* total : totals) {
        const auto own = total->by_log.find(i);
        sums.push_back(own == total->by_log.end() ? SweepSum() : own->second);
      }
      const auto swept = std::find_if(sums.begin(), sums.end(),
                                      [](const SweepSum& sum) { return sum.written > 0; });
      cells.push_back(WithCommas(swept == sums.end() ? 0 : swept->written));
      for (const SweepSum& sum : sums) cells.push_back(ShareText(sum.lost, sum.written));
    }
    table.AddRow(std::move(cells));
  }
  const auto add = [&](const char* name, std::string written, auto cell) {
    std::vector<Cell> cells = {name, std::move(written)};
    for (const Total* total : totals) cells.push_back(cell(*total));
    table.AddRow(std::move(cells));
  };
  add("all", WithCommas(totals.front()->sum.written),
      [](const Total& total) { return ShareText(total.sum.lost, total.sum.written); });
  add("worst log", "",
      [](const Total& total) { return ShareText(total.worst().lost, total.worst().written); });
  add("logs without loss", "", [](const Total& total) {
    return fmt::format("{} of {}", total.by_log.size() - total.logs_with_loss(),
                       total.by_log.size());
  });
  add("shortest history", "", [](const Total& total) {
    return total.sum.shortest_ns ? HumanDuration(*total.sum.shortest_ns) : "";
  });
  return table;
}

void PrintLosses(Report& report, const SweepLogs& logs, const LogNames& names,
                 const std::vector<Total>& totals) {
  std::vector<bool> printed(totals.size());
  for (size_t i = 0; i < totals.size(); ++i) {
    if (printed[i]) continue;
    std::vector<const Total*> same;
    for (size_t j = i; j < totals.size(); ++j) {
      if (totals[j].key.setting != totals[i].key.setting) continue;
      same.push_back(&totals[j]);
      printed[j] = true;
    }
    report.PrintWrapped(TextStyle::kBold, SettingName(totals[i].key.setting) + ";",
                        " packets lost at each size");
    report.Print(LossTable(logs, names, Thinned(std::move(same))));
    report.Print("\n");
  }
}

std::string FoundText(const FoundBuffers& found) {
  std::vector<std::string> sizes;
  for (const FoundBuffer& buffer : found.buffers) sizes.push_back(HumanSize(buffer.size));
  return found.found ? Joined(sizes, " + ") : "none";
}

void PrintTargets(Report& report, const SweepLogs& logs, const LogNames& names,
                  const std::vector<TargetTotal>& totals) {
  for (const TargetTotal& total : totals) {
    report.Print(report.Bold(fmt::format("{}: {}", SettingName(total.setting),
                                         Joined(total.target, " and "))) +
                 "\n");
    Table table({{"smallest size for", Align::kLeft},
                 {"session", Align::kRight},
                 {"size", Align::kRight},
                 {"why not", Align::kLeft}});
    for (size_t i = 0; i < logs.size(); ++i) {
      if (logs[i].status.error) table.AddRow({names.names[i], "", "failed"});
      for (const SweptSession& session : logs[i].sessions) {
        for (const FoundBuffers& found : session.targets) {
          if (found.setting != total.setting) continue;
          table.AddRow({names.names[i], std::to_string(session.session), FoundText(found),
                        found.why_not.value_or("")});
        }
      }
    }
    table.AddRow({"largest", "", total.largest_size ? HumanSize(*total.largest_size) : "none"});
    report.Print(table);
    report.Print("\n");
  }
}

Json TotalJson(const Total& total, const SweepLogs& logs) {
  Json json = FieldsToJson(total.key);
  json.update({{"logs", total.by_log.size()},
               {"logs_with_loss", total.logs_with_loss()},
               {"packets_written", total.sum.written},
               {"packets_kept", total.sum.kept},
               {"packets_lost", total.sum.lost},
               {"worst",
                {{"log", logs[total.worst_log].status.log},
                 {"packets_written", total.worst().written},
                 {"packets_lost", total.worst().lost}}},
               {"shortest_history", total.sum.shortest_ns
                                        ? Json{{"log", logs[total.shortest_log].status.log},
                                               {"history_ns", *total.sum.shortest_ns}}
                                        : Json()}});
  return json;
}

/// Nanoseconds as seconds.
std::string Seconds(uint64_t ns) {
  return fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000);
}

}  // namespace

Result<ExitCode> ReportLogs(Console& console, const std::string& format, const SweepLogs& logs,
                            const ShardsHeld& shards) {
  Report report(console, format, kSweepLogs);
  const std::vector<LogStatus> statuses = StatusesOf(logs);
  const ExitCode code = shards.CodeWith(WorstOf(statuses));
  if (format == "csv") {
    Table rows = SweepCsv();
    for (const LogResult<SweptSession>& log : logs)
      for (const SweptSession& session : log.sessions) AddToCsv(session, log.status.log, rows);
    report.Print(rows.CsvTitles() + rows.CsvRows());
    if (const std::string failures = FailuresText(statuses); !failures.empty())
      console.Warn(failures.substr(0, failures.size() - 1));
    if (const std::string missing = shards.MissingText(); !missing.empty()) console.Warn(missing);
    return code;
  }
  const LogNames names = ShortNames(statuses);
  const std::vector<Total> totals = TotalsOf(logs);
  const std::vector<TargetTotal> targets = TargetTotals(logs);
  if (report.is_text()) {
    if (targets.empty())
      PrintLosses(report, logs, names, totals);
    else
      PrintTargets(report, logs, names, targets);
    report.Paragraph(fmt::format("{}, {} failed", names.Title(), CountFailed(statuses)));
    report.Print(FailuresText(statuses));
  }
  ReportShards(report, shards);
  if (!report.is_json()) return code;
  Json configurations = Json::array();
  for (const Total& total : totals) configurations.push_back(TotalJson(total, logs));
  report.Data({{"logs", FieldsToJson(logs)},
               {"totals",
                {{"logs", logs.size()},
                 {"failed", CountFailed(statuses)},
                 {"configurations", std::move(configurations)},
                 {"targets", FieldsToJson(targets)}}}});
  RS_RETURN_IF_ERROR(report.Finish());
  return code;
}

Table SweepCsv() {
  std::vector<Column> columns;
  for (const char* key : {"engine",
                          "policy",
                          "size",
                          "reads",
                          "packets_written",
                          "packets_read",
                          "bytes_read",
                          "chunks_overwritten",
                          "chunks_discarded",
                          "history_s",
                          "buffer",
                          "log",
                          "session",
                          "bytes_written",
                          "packets_unread",
                          "bytes_unread",
                          "packets_overwritten",
                          "bytes_overwritten",
                          "packets_discarded",
                          "bytes_discarded",
                          "shortest_history_s",
                          "shortest_sequence",
                          "sequence_packet_loss",
                          "incremental_sequences_dropped",
                          "used_bytes",
                          "reads_assumed",
                          "packets_lost",
                          "packets_lost_otherwise",
                          "packets_waiting",
                          "protovm",
                          "packets_folded",
                          "bytes_folded",
                          "state_bytes"})
    columns.push_back(DataColumn(key));
  return Table(std::move(columns));
}

void AddToCsv(const SweptSession& session, const std::string& log, Table& rows) {
  for (const SweptConfiguration& configuration : session.configurations) {
    for (const SweepRow& row : configuration.buffers) {
      rows.AddRow(DataCells({row.engine,
                             Name(row.policy),
                             row.size,
                             configuration.key.setting.reads,
                             row.written.packets,
                             row.read.packets,
                             row.read.bytes,
                             row.stats.chunks_overwritten,
                             row.stats.chunks_discarded,
                             Seconds(row.history_ns),
                             Raw(row.id),
                             log,
                             session.session,
                             row.written.bytes,
                             row.unread.packets,
                             row.unread.bytes,
                             row.overwritten.packets,
                             row.overwritten.bytes,
                             row.discarded.packets,
                             row.discarded.bytes,
                             Seconds(row.shortest_history_ns),
                             FieldsToJson(row.shortest_sequence),
                             row.losses.sequence_packet_loss,
                             row.losses.incremental_sequences_dropped,
                             row.used_bytes,
                             configuration.key.setting.reads_assumed,
                             row.lost_packets(),
                             row.lost_otherwise(),
                             row.waiting_packets(),
                             FieldsToJson(configuration.key.setting.programs),
                             row.folded.packets,
                             row.folded.bytes,
                             FieldsToJson(row.state_bytes)}));
    }
  }
}

}  // namespace ringscope
