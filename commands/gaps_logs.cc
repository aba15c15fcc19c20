#include "commands/gaps_logs.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands/each_log.h"
#include "commands/json_output.h"
#include "commands/json_pieces.h"
#include "commands/sweep_report.h"
#include "commands/table.h"
#include "commands/text.h"
#include "core/ledger.h"

namespace ringscope {
namespace {

/// Sums over buffers and sessions, and over logs.
struct Sum {
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

Sum SumOf(const Json& log) {
  Sum sum;
  for (const Json& session : log.at("sessions")) sum.Add(session);
  return sum;
}

std::vector<std::string> Cells(const std::string& name, const Sum& sum) {
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

Json GapsTotals(const Json& logs) {
  Sum all;
  size_t failed = 0, with_loss = 0;
  for (const Json& log : logs) {
    failed += log.at("error").is_null() ? 0 : 1;
    with_loss += SumOf(log).lost.packets > 0 ? 1 : 0;
    for (const Json& session : log.at("sessions")) all.Add(session);
  }
  Json fates = Json::object();
  for (size_t i = 0; i < kFates; ++i) fates[Name(static_cast<Fate>(i))] = CountJson(all.fates[i]);
  return {{"logs", logs.size()},
          {"failed", failed},
          {"logs_with_loss", with_loss},
          {"sessions", all.sessions},
          {"written", CountJson(all.written)},
          {"lost", CountJson(all.lost)},
          {"own_fault", CountJson(all.own_fault)},
          {"fates", std::move(fates)}};
}

void PrintGapsLogs(Console& console, const Json& document) {
  const Json& logs = document["logs"];
  Table table({{"log", Align::kLeft},
               {"written", Align::kRight},
               {"lost", Align::kRight},
               {"", Align::kRight},
               {"overwritten", Align::kRight},
               {"discarded", Align::kRight},
               {"other", Align::kRight},
               {"own fault", Align::kRight},
               {"most lost by", Align::kLeft}});
  Sum all;
  const LogNames names = ShortNames(logs);
  for (size_t i = 0; i < logs.size(); ++i) {
    const Json& log = logs[i];
    const std::string& name = names.names[i];
    if (!log.at("error").is_null()) {
      table.AddRow({name, "failed"});
      continue;
    }
    table.AddRow(Cells(name, SumOf(log)));
    for (const Json& session : log.at("sessions")) all.Add(session);
  }
  all.worst_sequence.clear();
  table.AddRow(Cells("all", all));
  table.Print(console);
  const Json& totals = document["totals"];
  console.Print(fmt::format("\n{}{}, {} with loss, {} failed\n", Count(logs.size(), "log"),
                            names.pattern.empty() ? "" : fmt::format(" ({})", names.pattern),
                            totals["logs_with_loss"].get<uint64_t>(),
                            totals["failed"].get<uint64_t>()));
  console.Print(FailuresText(logs));
}

}  // namespace ringscope
