#include "commands/common/gaps_logs.h"

#include <fmt/format.h>

#include "commands/report/table.h"
#include "commands/shell/text.h"
#include "core/ledger/ledger.h"

namespace ringscope {
namespace {

/// Sums over buffers and sessions, and over logs.
struct GapsSum {
  FateCount written, lost, own_fault;
  std::array<FateCount, kFates> fates{};
  uint64_t sessions = 0;
  std::string worst_sequence;
  uint64_t worst_packets = 0;

  static FateCount CountOf(const Json& json) {
    return {json.at("packets").get<uint64_t>(), json.at("bytes").get<uint64_t>()};
  }
  void Add(const Json& session) {
    ++sessions;
    for (const Json& buffer : session.at("buffers")) {
      written += CountOf(buffer.at("written"));
      lost += CountOf(buffer.at("lost"));
      own_fault += CountOf(buffer.at("own_fault"));
      for (size_t i = 0; i < kFates; ++i)
        fates[i] += CountOf(buffer.at("fates").at(Name(static_cast<Fate>(i))));
    }
    for (const Json& sequence : session.at("sequences")) {
      const uint64_t packets = CountOf(sequence.at("lost")).packets;
      if (packets <= worst_packets) continue;
      worst_packets = packets;
      worst_sequence = sequence.at("sequence").get<std::string>();
      if (const std::string name = sequence.at("producer").get<std::string>(); !name.empty())
        worst_sequence += fmt::format(" ({})", Printable(name));
    }
  }
  uint64_t Packets(Fate fate) const { return fates[static_cast<size_t>(fate)].packets; }
};

GapsSum GapsSumOf(const LogResult& log) {
  GapsSum sum;
  for (const Json& session : log.sessions) sum.Add(session);
  return sum;
}

std::vector<Cell> Cells(const std::string& name, const GapsSum& sum) {
  const uint64_t overwritten = sum.Packets(Fate::kOverwritten);
  const uint64_t discarded = sum.Packets(Fate::kDiscarded);
  return {name,
          WithCommas(sum.written.packets),
          WithCommas(sum.lost.packets),
          ShareText(sum.lost.packets, sum.written.packets),
          WithCommas(overwritten),
          WithCommas(discarded),
          WithCommas(sum.lost.packets - overwritten - discarded),
          WithCommas(sum.own_fault.packets),
          sum.worst_sequence};
}

}  // namespace

Json GapsLogsJson(const std::vector<LogResult>& logs) {
  GapsSum all;
  uint64_t with_loss = 0;
  for (const LogResult& log : logs) {
    with_loss += GapsSumOf(log).lost.packets > 0 ? 1 : 0;
    for (const Json& session : log.sessions) all.Add(session);
  }
  Json fates = Json::object();
  for (size_t i = 0; i < kFates; ++i) fates[Name(static_cast<Fate>(i))] = CountJson(all.fates[i]);
  Json document = JsonDocument(kGapsLogs);
  document["logs"] = LogsJson(logs);
  document["totals"] = {{"logs", logs.size()},
                        {"failed", CountFailed(StatusesOf(logs))},
                        {"logs_with_loss", with_loss},
                        {"sessions", all.sessions},
                        {"written", CountJson(all.written)},
                        {"lost", CountJson(all.lost)},
                        {"own_fault", CountJson(all.own_fault)},
                        {"fates", std::move(fates)}};
  return document;
}

void PrintGapsLogs(Console& console, const std::vector<LogResult>& logs) {
  Table table({{"log", Align::kLeft},
               {"written", Align::kRight},
               {"lost", Align::kRight},
               {"", Align::kRight},
               {"overwritten", Align::kRight},
               {"discarded", Align::kRight},
               {"other", Align::kRight},
               {"buffer bug", Align::kRight},
               {"most lost by", Align::kLeft}});
  GapsSum all;
  uint64_t with_loss = 0;
  const std::vector<LogStatus> statuses = StatusesOf(logs);
  const LogNames names = ShortNames(statuses);
  for (size_t i = 0; i < logs.size(); ++i) {
    const LogResult& log = logs[i];
    if (log.status.error) {
      table.AddRow({names.names[i], "failed"});
      continue;
    }
    const GapsSum sum = GapsSumOf(log);
    with_loss += sum.lost.packets > 0 ? 1 : 0;
    table.AddRow(Cells(names.names[i], sum));
    for (const Json& session : log.sessions) all.Add(session);
  }
  all.worst_sequence.clear();
  table.AddRow(Cells("all", all));
  table.Print(console);
  console.Print(fmt::format("\n{}{}, {} with loss, {} failed\n", Count(logs.size(), "log"),
                            names.pattern.empty() ? "" : fmt::format(" ({})", names.pattern),
                            with_loss, CountFailed(statuses)));
  console.Print(FailuresText(statuses));
}

}  // namespace ringscope
