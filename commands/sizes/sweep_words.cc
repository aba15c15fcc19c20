#include <fmt/format.h>

#include "commands/shell/text.h"
#include "commands/sizes/sweep_report.h"
#include "core/log/verdict.h"

namespace ringscope {

std::string TargetsText(const SweepReport& report) {
  std::vector<std::string> texts;
  for (const SweepTarget& target : report.targets) texts.push_back(target.text);
  return Joined(texts, " and ");
}

std::string SizesText(const std::vector<SweepRow>& rows) {
  if (rows.size() == 1) return SizeWithKb(rows.front().size);
  std::vector<std::string> texts;
  for (const SweepRow& row : rows)
    texts.push_back(fmt::format("{} for buffer {}", SizeWithKb(row.size), Raw(row.id)));
  return Joined(texts);
}

/// "programs (ProtoVM) off"
std::string ProgramsText(const NamedPrograms& programs) {
  if (!programs.choice.run) return "programs (ProtoVM) off";
  if (!programs.choice.memory_limit_kb) return "programs (ProtoVM) as configured";
  return fmt::format("programs (ProtoVM) with {}",
                     HumanSize(uint64_t{*programs.choice.memory_limit_kb} * 1024));
}

std::string SettingText(const SweepSetting& setting, const SweepRow& row) {
  std::string reads = "read as recorded";
  switch (setting.reads.choice.mode) {
    case ReadsMode::kEnd:
      reads = "read at the end";
      break;
    case ReadsMode::kNone:
      reads = "never read";
      break;
    case ReadsMode::kEvery:
      reads = fmt::format("read {}", setting.reads.name);
      break;
    case ReadsMode::kStreamed:
      reads = "read as for a file";
      if (setting.reads.name != Name(ReadsMode::kStreamed))
        reads += fmt::format(" ({})", setting.reads.name);
      break;
    default:
      break;
  }
  if (setting.reads.assumed) reads += " (assumed)";
  return fmt::format("{}, {}, {}{}", Printable(row.engine), Name(row.policy), reads,
                     setting.programs ? ", " + ProgramsText(*setting.programs) : "");
}

namespace {

std::string MissText(const SweepReport& report, const TargetMiss& miss) {
  const SweepRow& row = miss.row;
  if (miss.kind == TargetMiss::Kind::kLogTooShort)
    return fmt::format("the log lasts only {}", HumanDuration(report.result.duration_ns()));
  if (miss.kind == TargetMiss::Kind::kHistory)
    return fmt::format("even with {} for buffer {}, sequence {} reaches back only {}",
                       HumanSize(row.size), Raw(row.id), ToString(*row.shortest_sequence),
                       HumanDuration(row.shortest_history_ns));
  const std::string lost =
      fmt::format("{} of {} {} lost", WithCommas(row.lost_packets()),
                  Count(row.written.packets, "packet"), row.lost_packets() == 1 ? "is" : "are");
  if (row.full_packets() == 0)
    return fmt::format("in buffer {}, {} whatever its size; with {} it overwrites nothing",
                       Raw(row.id), lost, SizeWithKb(row.size));
  return fmt::format("even with {} for buffer {}, {}: {} overwritten, {} discarded",
                     HumanSize(row.size), Raw(row.id), lost, WithCommas(row.overwritten.packets),
                     WithCommas(row.discarded.packets));
}

}  // namespace

std::string WhyNotText(const SweepReport& report, const FoundSize& found) {
  std::vector<std::string> texts;
  for (const TargetMiss& miss : found.misses) texts.push_back(MissText(report, miss));
  return texts.empty() ? "no sizes that were tried meet it together" : Joined(texts, "; ");
}

SweptSession Swept(const SweepReport& report, bool sequences) {
  const auto setting_of = [&](size_t index) -> SweptSetting {
    const SweepSetting& setting = report.plan.settings[index];
    return {setting.engine, setting.policy, setting.reads.name, setting.reads.assumed,
            setting.programs ? std::optional(setting.programs->name) : std::nullopt};
  };
  const SweepResult& result = report.result;
  SweptSession session{.input = report.path,
                       .session = report.session,
                       .clone = report.clone,
                       .records = result.records,
                       .recorder_gaps = result.recorder_gaps,
                       .inexact = {},
                       .duration_ns = result.duration_ns(),
                       .buffers = {},
                       .configurations = {},
                       .targets = {}};
  for (const RecordingVerdict& verdict : result.verdicts)
    session.inexact.emplace_back(Name(verdict.reason));
  for (const auto& [id, buffer] : report.facts.buffers)
    session.buffers.push_back({id, buffer.size, buffer.policy});
  for (size_t i = 0; i < report.plan.points.size(); ++i) {
    const SweepPoint& point = report.plan.points[i];
    session.configurations.push_back(
        {{setting_of(point.setting), point.scale, point.size}, result.rows[i]});
    if (sequences) continue;
    for (SweepRow& row : session.configurations.back().buffers) row.sequences = {};
  }
  for (const FoundSize& found : report.found) {
    FoundBuffers& target = session.targets.emplace_back();
    target.setting = setting_of(found.setting);
    for (const SweepTarget& wanted : report.targets) target.target.push_back(wanted.text);
    target.found = found.point.has_value();
    target.verified = found.verified && LossesBefore(result.verdicts) == nullptr;
    if (!found.point)
      target.why_not = WhyNotText(report, found);
    else
      for (const SweepRow& row : result.rows[*found.point])
        target.buffers.push_back({row.id, row.size});
  }
  return session;
}

}  // namespace ringscope
