#include "commands/common/sweep_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "commands/report/table.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

constexpr size_t kMaxColumns = 7;  // sizes side by side

/// What tells configurations apart, whatever the log.
constexpr const char* kSettingKeys[] = {"engine", "policy", "reads"};
constexpr const char* kSizeKeys[] = {"scale", "size"};

Json KeyOf(const Json& configuration) {
  Json key = Json::object();
  for (const char* name : kSettingKeys) key[name] = configuration.at(name);
  for (const char* name : kSizeKeys) key[name] = configuration.at(name);
  return key;
}
Json SettingOf(const Json& configuration) {
  Json setting = Json::object();
  for (const char* name : kSettingKeys) setting[name] = configuration.at(name);
  return setting;
}

/// Sums over buffers, and over sessions and logs.
struct SweepSum {
  uint64_t written = 0;
  uint64_t kept = 0;
  uint64_t lost = 0;
  std::optional<uint64_t> shortest_ns;

  void Add(const Json& configuration) {
    for (const Json& row : configuration.at("buffers")) {
      const auto packets = [&](const char* what) {
        return row.at(what).at("packets").get<uint64_t>();
      };
      written += packets("written");
      kept += packets("read") + packets("unread");
      lost += packets("overwritten") + packets("discarded");
      if (!row.at("shortest_sequence").is_null()) {
        const auto ns = row.at("shortest_history_ns").get<uint64_t>();
        shortest_ns = std::min(shortest_ns.value_or(ns), ns);
      }
    }
  }
  /// Lost a larger share than the other.
  bool WorseThan(const SweepSum& other) const {
    return static_cast<double>(lost) * static_cast<double>(std::max<uint64_t>(other.written, 1)) >
           static_cast<double>(other.lost) * static_cast<double>(std::max<uint64_t>(written, 1));
  }
};

template <typename Visit>
void VisitConfigurations(const LogResult& log, Visit visit) {
  for (const Json& session : log.sessions)
    for (const Json& configuration : session.at("configurations")) visit(configuration);
}

/// A log's sums, by configuration.
SweepSum SweepSumOf(const LogResult& log, const Json& key) {
  SweepSum sum;
  VisitConfigurations(log, [&](const Json& configuration) {
    if (KeyOf(configuration) == key) sum.Add(configuration);
  });
  return sum;
}

struct Total {
  Json key;
  SweepSum sum;
  uint64_t logs = 0;
  uint64_t logs_with_loss = 0;
  SweepSum worst;
  std::string worst_log;
  std::string shortest_log;
};

std::vector<Total> TotalsOf(const std::vector<LogResult>& logs) {
  std::vector<Total> totals;
  std::map<std::string, size_t> slots;
  for (const LogResult& log : logs) {
    std::vector<std::pair<size_t, SweepSum>> own;
    VisitConfigurations(log, [&](const Json& configuration) {
      Json key = KeyOf(configuration);
      const auto found = slots.try_emplace(key.dump(), totals.size());
      if (found.second) totals.emplace_back().key = std::move(key);
      const size_t slot = found.first->second;
      auto sum = std::find_if(own.begin(), own.end(),
                              [&](const auto& entry) { return entry.first == slot; });
      if (sum == own.end()) sum = own.insert(own.end(), {slot, SweepSum()});
      sum->second.Add(configuration);
    });
    for (const auto& [slot, sum] : own) {
      Total& total = totals[slot];
      ++total.logs;
      total.logs_with_loss += sum.lost > 0 ? 1 : 0;
      total.sum.written += sum.written;
      total.sum.kept += sum.kept;
      total.sum.lost += sum.lost;
      if (total.worst_log.empty() || sum.WorseThan(total.worst)) {
        total.worst = sum;
        total.worst_log = log.status.log;
      }
      if (sum.shortest_ns &&
          (!total.sum.shortest_ns || *sum.shortest_ns < *total.sum.shortest_ns)) {
        total.sum.shortest_ns = sum.shortest_ns;
        total.shortest_log = log.status.log;
      }
    }
  }
  return totals;
}

/// The largest of the sizes found, over all logs, by setting.
Json TargetTotals(const std::vector<LogResult>& logs) {
  Json totals = Json::array();
  for (const LogResult& log : logs) {
    for (const Json& session : log.sessions) {
      if (!session.contains("targets")) continue;
      for (const Json& found : session.at("targets")) {
        const Json setting = SettingOf(found);
        auto total = std::find_if(totals.begin(), totals.end(), [&](const Json& entry) {
          return SettingOf(entry) == setting && entry["target"] == found.at("target");
        });
        if (total == totals.end()) {
          Json fresh = setting;
          fresh.update({{"target", found.at("target")},
                        {"sessions", 0},
                        {"met", 0},
                        {"largest_size", nullptr},
                        {"largest_log", nullptr}});
          totals.push_back(std::move(fresh));
          total = totals.end() - 1;
        }
        (*total)["sessions"] = (*total)["sessions"].get<uint64_t>() + 1;
        if (!found.at("found").get<bool>()) continue;
        (*total)["met"] = (*total)["met"].get<uint64_t>() + 1;
        for (const Json& buffer : found.at("buffers")) {
          Json& largest = (*total)["largest_size"];
          if (!largest.is_null() && largest.get<uint64_t>() >= buffer.at("size").get<uint64_t>())
            continue;
          largest = buffer.at("size");
          (*total)["largest_log"] = log.status.log;
        }
      }
    }
  }
  return totals;
}

/// A log with its name in the table.
struct NamedLog {
  const LogResult* result;
  std::string name;
};

std::vector<NamedLog> Named(const std::vector<LogResult>& logs, const LogNames& names) {
  std::vector<NamedLog> named;
  for (size_t i = 0; i < logs.size(); ++i) named.push_back({&logs[i], names.names[i]});
  return named;
}

std::string SettingName(const Json& setting) {
  const auto text = [&](const char* name, const char* otherwise) {
    return setting[name].is_null() ? std::string(otherwise)
                                   : Printable(setting[name].get<std::string>());
  };
  return fmt::format("{}, {}, reads: {}", text("engine", "the logs' engines"),
                     text("policy", "the logs' policies"), text("reads", "recorded"));
}

std::string SizeName(const Json& key) {
  if (!key["scale"].is_null()) return fmt::format("{:.4g}x", key["scale"].get<double>());
  return key["size"].is_null() ? "as fixed" : HumanSize(key["size"].get<uint64_t>());
}

/// At most kMaxColumns of these, the first and the last among them.
std::vector<const Total*> Thinned(std::vector<const Total*> totals) {
  if (totals.size() <= kMaxColumns) return totals;
  std::vector<const Total*> some;
  for (size_t i = 0; i < kMaxColumns; ++i)
    some.push_back(totals[i * (totals.size() - 1) / (kMaxColumns - 1)]);
  return some;
}

void PrintLossTable(Console& console, const std::vector<NamedLog>& logs,
                    const std::vector<const Total*>& all) {
  const std::vector<const Total*> totals = Thinned(all);
  std::vector<Column> columns = {{"log", Align::kLeft}, {"written", Align::kRight}};
  for (const Total* total : totals) columns.push_back({SizeName(total->key), Align::kRight});
  Table table(columns);
  for (const auto& [result, name] : logs) {
    const LogResult& log = *result;
    std::vector<Cell> cells = {name};
    if (log.status.error) {
      cells.emplace_back("failed");
    } else if (log.sessions.empty()) {
      cells.emplace_back("no records");
    } else {
      for (const Total* total : totals) {
        const SweepSum sum = SweepSumOf(log, total->key);
        if (cells.size() == 1) cells.push_back(WithCommas(sum.written));
        cells.push_back(ShareText(sum.lost, sum.written));
      }
    }
    table.AddRow(std::move(cells));
  }
  const auto add = [&](const char* name, auto cell) {
    std::vector<Cell> cells = {name, ""};
    for (const Total* total : totals) cells.push_back(cell(*total));
    table.AddRow(std::move(cells));
  };
  std::vector<Cell> sums = {"all", totals.empty() ? "" : WithCommas(totals[0]->sum.written)};
  for (const Total* total : totals) sums.push_back(ShareText(total->sum.lost, total->sum.written));
  table.AddRow(std::move(sums));
  add("worst log",
      [](const Total& total) { return ShareText(total.worst.lost, total.worst.written); });
  add("logs without loss", [](const Total& total) {
    return fmt::format("{} of {}", total.logs - total.logs_with_loss, total.logs);
  });
  add("shortest history", [](const Total& total) {
    return total.sum.shortest_ns ? HumanDuration(*total.sum.shortest_ns) : "";
  });
  table.Print(console);
}

std::string FoundText(const Json& found) {
  if (!found.at("found").get<bool>()) return "none";
  std::string text;
  for (const Json& buffer : found.at("buffers"))
    text += fmt::format("{}{}", text.empty() ? "" : " + ",
                        HumanSize(buffer.at("size").get<uint64_t>()));
  return text;
}

void PrintTargetTable(Console& console, const std::vector<NamedLog>& logs, const Json& totals) {
  for (const Json& total : totals) {
    std::string targets;
    for (const Json& target : total["target"])
      targets += (targets.empty() ? "" : " and ") + target.get<std::string>();
    console.Print(console.Bold(fmt::format("{}: {}", SettingName(total), targets)) + "\n");
    Table table({{"smallest size for", Align::kLeft},
                 {"session", Align::kRight},
                 {"size", Align::kRight},
                 {"why not", Align::kLeft}});
    for (const auto& [log, name] : logs) {
      if (log->status.error) table.AddRow({name, "", "failed"});
      for (const Json& session : log->sessions) {
        for (const Json& found : session.at("targets")) {
          if (SettingOf(found) != SettingOf(total)) continue;
          table.AddRow(
              {name, std::to_string(session.at("session").get<uint64_t>()), FoundText(found),
               found.at("why_not").is_null() ? "" : found.at("why_not").get<std::string>()});
        }
      }
    }
    const Json& largest = total["largest_size"];
    table.AddRow({"largest", "", largest.is_null() ? "none" : HumanSize(largest.get<uint64_t>())});
    table.Print(console);
    console.Print("\n");
  }
}

/// Nanoseconds as seconds.
std::string Seconds(uint64_t ns) {
  return fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000);
}

}  // namespace

Json SweepLogsJson(const std::vector<LogResult>& logs) {
  Json document = JsonDocument(kSweepLogs);
  document["logs"] = LogsJson(logs);
  Json totals = {{"logs", logs.size()}, {"failed", CountFailed(StatusesOf(logs))}};
  totals["configurations"] = Json::array();
  for (const Total& total : TotalsOf(logs)) {
    Json json = total.key;
    json["logs"] = total.logs;
    json["logs_with_loss"] = total.logs_with_loss;
    json["packets_written"] = total.sum.written;
    json["packets_kept"] = total.sum.kept;
    json["packets_lost"] = total.sum.lost;
    json["worst"] = {{"log", total.worst_log},
                     {"packets_written", total.worst.written},
                     {"packets_lost", total.worst.lost}};
    json["shortest_history"] = total.sum.shortest_ns ? Json{{"log", total.shortest_log},
                                                            {"history_ns", *total.sum.shortest_ns}}
                                                     : Json();
    totals["configurations"].push_back(std::move(json));
  }
  totals["targets"] = TargetTotals(logs);
  document["totals"] = std::move(totals);
  return document;
}

void PrintSweepLogs(Console& console, const std::vector<LogResult>& logs) {
  const std::vector<LogStatus> statuses = StatusesOf(logs);
  const LogNames names = ShortNames(statuses);
  const std::vector<NamedLog> named = Named(logs, names);
  const Json targets = TargetTotals(logs);
  if (!targets.empty()) {
    PrintTargetTable(console, named, targets);
  } else {
    const std::vector<Total> totals = TotalsOf(logs);
    std::vector<bool> printed(totals.size());
    for (size_t i = 0; i < totals.size(); ++i) {
      if (printed[i]) continue;
      const Json setting = SettingOf(totals[i].key);
      std::vector<const Total*> same;
      for (size_t j = i; j < totals.size(); ++j) {
        if (SettingOf(totals[j].key) != setting) continue;
        same.push_back(&totals[j]);
        printed[j] = true;
      }
      console.Print(console.Bold(SettingName(setting)) + "; packets lost at each size\n");
      std::vector<NamedLog> swept;  // in this setting: logs may differ in when they are read
      std::copy_if(named.begin(), named.end(), std::back_inserter(swept), [&](const auto& log) {
        bool has = log.result->sessions.empty();  // failed, or without records
        VisitConfigurations(*log.result, [&](const Json& configuration) {
          has |= SettingOf(configuration) == setting;
        });
        return has;
      });
      PrintLossTable(console, swept, same);
      console.Print("\n");
    }
  }
  console.Print(fmt::format("{}{}, {} failed\n", Count(logs.size(), "log"),
                            names.pattern.empty() ? "" : fmt::format(" ({})", names.pattern),
                            CountFailed(statuses)));
  console.Print(FailuresText(statuses));
}

const char* const kSweepCsvTitles =
    "engine,policy,size,reads,packets_written,packets_read,bytes_read,chunks_overwritten,"
    "chunks_discarded,history_s,buffer,log,session,bytes_written,packets_unread,bytes_unread,"
    "packets_overwritten,bytes_overwritten,packets_discarded,bytes_discarded,shortest_history_s,"
    "shortest_sequence,sequence_packet_loss,incremental_sequences_dropped,used_bytes\n";

void PrintSweepCsv(Console& console, const Json& session, const std::string& log) {
  const auto number = [](const Json& json) { return json.get<uint64_t>(); };
  for (const Json& configuration : session.at("configurations")) {
    for (const Json& row : configuration.at("buffers")) {
      const auto packets = [&](const char* what) { return number(row.at(what).at("packets")); };
      const auto bytes = [&](const char* what) { return number(row.at(what).at("bytes")); };
      const Json& shortest = row.at("shortest_sequence");
      console.Print(fmt::format(
          "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
          CsvText(row.at("engine")), row.at("policy").get<std::string>(), number(row.at("size")),
          configuration.at("reads").get<std::string>(), packets("written"), packets("read"),
          bytes("read"), number(row.at("stats").at("chunks_overwritten")),
          number(row.at("stats").at("chunks_discarded")), Seconds(number(row.at("history_ns"))),
          number(row.at("buffer")), CsvText(log), number(session.at("session")), bytes("written"),
          packets("unread"), bytes("unread"), packets("overwritten"), bytes("overwritten"),
          packets("discarded"), bytes("discarded"), Seconds(number(row.at("shortest_history_ns"))),
          shortest.is_null() ? "" : shortest.get<std::string>(),
          number(row.at("sequence_packet_loss")), number(row.at("incremental_sequences_dropped")),
          number(row.at("used_bytes"))));
    }
  }
}

void PrintSweepLogsCsv(Console& console, const std::vector<LogResult>& logs) {
  console.Print(kSweepCsvTitles);
  for (const LogResult& log : logs)
    for (const Json& session : log.sessions) PrintSweepCsv(console, session, log.status.log);
}

}  // namespace ringscope
