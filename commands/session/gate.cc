#include <charconv>

#include "commands/session/examined.h"

namespace ringscope {
namespace {

constexpr double kPercent = 100;

/// "1%" or "0.01"
Result<double> ParseShare(std::string_view text) {
  const bool is_percent = text.ends_with('%');
  const std::string_view digits = text.substr(0, text.size() - (is_percent ? 1 : 0));
  double share = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), share);
  if (is_percent) share /= kPercent;
  if (error == std::errc() && end == digits.data() + digits.size() && share >= 0 && share <= 1)
    return share;
  return UsageError("'{}' is not a share; write it like 1% or 0.01", text);
}

std::vector<std::string> Severities() {
  return {kEnumNames<Harm>.begin() + 1, kEnumNames<Harm>.end()};
}

Result<Harm> ParseHarm(std::string_view text) {
  RS_ASSIGN_OR_RETURN(const std::string name, ParseChoice(text, Severities(), "severity",
                                                          "one of " + Joined(Severities())));
  return *FromName<Harm>(name);
}

std::string LimitText(double share) { return fmt::format("{:g}%", share * kPercent); }

/// Returns what breaks the limit of lost packets: of a trace alone, any loss that it proves.
std::string LostText(const Examination& examination, double most) {
  const StageAccount& all = examination.account.all;
  uint64_t lost = 0, places = 0;
  for (const Stage stage :
       {Stage::kSharedMemory, Stage::kCommit, Stage::kBuffer, Stage::kFile, Stage::kUnknown}) {
    places += all[stage].places;
    // A packet in shared memory was not finished by its writer.
    if (stage != Stage::kSharedMemory) lost += all[stage].count.packets;
  }
  if (const auto written = all.written()) {
    const double share = static_cast<double>(lost) / static_cast<double>(written->packets);
    return written->packets > 0 && share > most
               ? fmt::format("{} lost, more than {}", ShareText(lost, written->packets),
                             LimitText(most))
               : "";
  }
  return places > 0 && examination.answer.severity >= Harm::kDataLoss
             ? fmt::format("an unknown number of packets missing at {}, perhaps more than {}",
                           Count(places, "place"), LimitText(most))
             : "";
}

}  // namespace

std::vector<std::string> Gate::Broken(const Examination& examination) const {
  std::vector<std::string> broken;
  const Answer& answer = examination.answer;
  const bool has_limits = max_lost || min_usable || min_reach_ns;
  const std::optional<Harm> least = has_limits ? fail_on : fail_on.value_or(Harm::kWarning);
  if (least && answer.severity >= *least && answer.severity > Harm::kOk)
    broken.push_back(fmt::format("{} (--fail-on {})", HarmText(answer.severity), Name(*least)));
  if (examination.subject.is_config && has_limits)
    broken.push_back("a trace config has no packets, and the limits are about them");
  if (max_lost)
    if (const std::string lost = LostText(examination, *max_lost); !lost.empty())
      broken.push_back(lost + " (--max-lost)");
  const bool is_less = static_cast<double>(answer.usable) <
                       min_usable.value_or(0) * static_cast<double>(answer.packets);
  if (min_usable && (is_less || answer.packets == 0) && !examination.subject.is_config)
    broken.push_back(fmt::format(
        "{} usable, less than {} (--min-usable)",
        answer.packets == 0 ? "no packet"
                            : fmt::format("{} of {}", ShareText(answer.usable, answer.packets),
                                          Count(answer.packets, "packet")),
        LimitText(*min_usable)));
  for (const auto& [buffer, reach] : examination.reach)
    if (min_reach_ns && reach.ns < *min_reach_ns)
      broken.push_back(fmt::format("buffers[{}] reaches back {}, less than {} (--min-reach)",
                                   buffer, HumanDuration(reach.ns), HumanDuration(*min_reach_ns)));
  return broken;
}

void AddGate(CLI::App& app, Gate& gate) {
  InGroup(app, "Limits, for continuous integration");
  AddParsed(app, "--fail-on", gate.fail_on, ParseHarm, ValueType(Severities()),
            "End with status 3 from this severity on; without it from warning on, or by the "
            "limits alone");
  AddParsed(app, "--max-lost", gate.max_lost, ParseShare, "SHARE",
            "End with status 3 if more of the packets written were lost, like 1%; where a trace "
            "does not show how many were written, if any are missing");
  AddParsed(app, "--min-reach", gate.min_reach_ns, ParsePositiveDuration, "TIME",
            "End with status 3 if a ring that overwrote data reaches back less than this");
  AddParsed(app, "--min-usable", gate.min_usable, ParseShare, "SHARE",
            "End with status 3 if the UI can show less of the packets in the trace");
}

void PrintBrokenLimits(Report& report, std::span<const Examination> examinations) {
  bool has_any = false;
  for (const Examination& examination : examinations) {
    if (examination.broken_limits.empty()) continue;
    if (!std::exchange(has_any, true)) report.Heading("Limits that are broken");
    report.Paragraph(fmt::format("{}: {}", NameOf(examination), Joined(examination.broken_limits)),
                     "  ");
  }
}

ExitCode CodeOf(std::span<const Examination> examinations, const Gate& gate) {
  const auto failed = std::ranges::count_if(
      examinations, [](const Examination& examination) { return examination.error.has_value(); });
  if (!examinations.empty() && failed == static_cast<ptrdiff_t>(examinations.size()))
    return ExitCode::kFailed;
  const bool any = std::ranges::any_of(examinations, [&](const Examination& examination) {
    return !gate.Broken(examination).empty();
  });
  return any || failed > 0 ? ExitCode::kNotice : ExitCode::kClean;
}

}  // namespace ringscope
