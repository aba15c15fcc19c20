#include <fmt/format.h>

#include "commands/shell/text.h"
#include "commands/sweep/sweep_report.h"

namespace ringscope {

std::string TargetsText(const SweepReport& report) {
  std::string text;
  for (const SweepTarget& target : report.targets)
    text += fmt::format("{}{}", text.empty() ? "" : " and ", target.text);
  return text;
}

std::string SizesText(const std::vector<SweepRow>& rows) {
  if (rows.size() == 1) return HumanSize(rows.front().size);
  std::string text;
  for (const SweepRow& row : rows)
    text += fmt::format("{}{} for buffer {}", text.empty() ? "" : ", ", HumanSize(row.size),
                        Raw(row.id));
  return text;
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
    default:
      break;
  }
  return fmt::format("{}, {}, {}", Printable(row.engine), Name(row.policy), reads);
}

std::string WhyNotText(const SweepReport& report, const TargetMiss& miss) {
  const SweepRow& row = miss.row;
  switch (miss.kind) {
    case TargetMiss::Kind::kLogTooShort:
      return fmt::format("the log lasts only {}", HumanDuration(report.result.duration_ns()));
    case TargetMiss::Kind::kHistory:
      return fmt::format("even in {} of buffer {}, sequence {} reaches back only {}",
                         HumanSize(row.size), Raw(row.id), ToString(*row.shortest_sequence),
                         HumanDuration(row.shortest_history_ns));
    case TargetMiss::Kind::kLoss:
      break;
  }
  return fmt::format("even in {} of buffer {}, {} of {} are overwritten, {} discarded",
                     HumanSize(row.size), Raw(row.id), WithCommas(row.overwritten.packets),
                     Count(row.written.packets, "packet"), WithCommas(row.discarded.packets));
}

}  // namespace ringscope
