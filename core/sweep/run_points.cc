#include "core/sweep/run_points.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "core/sweep/kept_batches.h"
#include "core/sweep/sweep_run.h"

namespace ringscope {
namespace {

/// The next points of the plan that have no rows yet.
std::vector<ReplayOptions> ConfigsOf(const SweepReport& report, size_t count) {
  std::vector<ReplayOptions> configs;
  for (size_t i = 0; i < count; ++i)
    configs.push_back(report.plan.points[report.result.rows.size() + i].config);
  return configs;
}

/// Takes over what all configurations of a session have in common.
void SetFacts(SweepResult from, SweepReport& report) {
  from.rows = std::move(report.result.rows);
  report.result = std::move(from);
}

/// The accounts of a setting's own configuration; nullptr: they are not known.
const OwnAccounts* OwnOf(const SweepReport& report, size_t setting) {
  const BufferNeeds* const needs = report.NeedsOf(setting);
  return needs == nullptr ? nullptr : &needs->own;
}

/// Adds the rows of these points with all that is lost.
/// @param own accounts of a setting's own configuration; nullptr: not known
Status AddRows(const SweepInput& input, const std::vector<ReplayOptions>& configs,
               std::vector<std::vector<SweepRow>> added,
               const std::function<const OwnAccounts*(size_t setting)>& own, SweepReport& report) {
  const size_t begin = report.result.rows.size();
  const auto setting_of = [&](size_t i) { return report.plan.points[begin + i].setting; };
  for (size_t setting = 0; setting < report.plan.settings.size(); ++setting) {
    // What one configuration of a setting lost tells mostly what others lose.
    std::vector<ReplayOptions> alike;
    std::vector<std::vector<SweepRow>> rows;
    for (size_t i = 0; i < configs.size(); ++i) {
      if (setting_of(i) != setting) continue;
      alike.push_back(configs[i]);
      rows.push_back(std::move(added[i]));
    }
    RS_RETURN_IF_ERROR(FindLosses(input, alike, own(setting), rows));
    auto next = rows.begin();
    for (size_t i = 0; i < configs.size(); ++i)
      if (setting_of(i) == setting) added[i] = std::move(*next++);
  }
  std::ranges::move(added, std::back_inserter(report.result.rows));
  return {};
}

/// Whether a replay with these reads is one with `named`, too: without any of the log's own, all is
/// read at the end.
bool ReadsAs(const ReadsChoice& reads, const ReadsChoice& named) {
  return reads == named || (reads.mode == ReadsMode::kAuto && named.mode == ReadsMode::kEnd);
}

}  // namespace

Status RunPoints(const SweepInput& input, size_t count, SweepReport& report) {
  if (count == 0) return {};
  const std::vector<ReplayOptions> configs = ConfigsOf(report, count);
  RS_ASSIGN_OR_RETURN(SweepResult more, RunSweep(input, configs));
  std::vector<std::vector<SweepRow>> rows = std::move(more.rows);
  SetFacts(std::move(more), report);
  return AddRows(
      input, configs, std::move(rows), [&](size_t setting) { return OwnOf(report, setting); },
      report);
}

Status RunPointsAndNeeds(const SweepInput& input, const SweepChoices& choices,
                         const SessionFacts& facts, SweepReport& report) {
  const std::vector<SweepSetting>& settings = report.plan.settings;
  const auto own_config = [&](size_t setting) {
    return ScaledPoint(settings[setting], setting, 1, choices, facts, {}).config;
  };
  // What a setting needs takes a replay in full, which makes the batches of all points on its way.
  const auto reads = [](const SweepSetting& setting) {
    return setting.reads.choice.mode != ReadsMode::kNone;
  };
  const auto first = static_cast<size_t>(std::ranges::find_if(settings, reads) - settings.begin());
  std::optional<BufferNeeds> computed;  // of the first
  BatchFeed feed;
  if (first < settings.size() && MakesBatches(input, own_config(first))) {
    feed = [&](auto put) -> const BatchBuilder* {
      auto needs = ComputeNeededSizes(input, own_config(first), std::move(put));
      if (!needs || !input.kept->forwarded_all()) return nullptr;
      computed = std::move(*needs);
      return &input.kept->facts();
    };
  }
  const std::vector<ReplayOptions> configs = ConfigsOf(report, report.plan.points.size());
  RS_ASSIGN_OR_RETURN(SweepResult points, RunSweep(input, configs, feed));
  NameReads(facts, report.plan);

  report.needs.resize(settings.size());
  for (size_t i = 0; i < settings.size(); ++i) {
    if (!reads(settings[i])) continue;
    const ReplayOptions config = own_config(i);
    std::optional<BufferNeeds>& of = report.needs[i];
    if (computed && i == first && ReadsAs(computed->own.reads, config.reads)) {
      of = *computed;
      of->own.reads = config.reads;
      RS_RETURN_IF_ERROR(TryNeededSizes(input, config, *of));
    } else {
      RS_ASSIGN_OR_RETURN(of, FindNeededSizes(input, config));
    }
  }
  const auto own = [&](size_t setting) { return OwnOf(report, setting); };
  // The points were run with the reads as they were chosen, before these had a name.
  const auto own_as_chosen = [&](size_t setting) {
    return computed && setting == first ? &computed->own : own(setting);
  };
  std::vector<std::vector<SweepRow>> rows = std::move(points.rows);
  SetFacts(std::move(points), report);
  RS_RETURN_IF_ERROR(AddRows(input, configs, std::move(rows), own_as_chosen, report));

  AddNeededSizes(report.needs, choices, facts, report.plan);
  const size_t added = report.plan.points.size() - report.result.rows.size();
  const std::vector<ReplayOptions> needed = ConfigsOf(report, added);
  // Most were tried just so.
  std::vector<std::vector<SweepRow>> tried;
  std::vector<ReplayOptions> others;
  for (size_t i = 0; i < added; ++i) {
    const size_t setting = report.plan.points[report.result.rows.size() + i].setting;
    tried.push_back(std::move(report.needs[setting]->rows));
    if (tried.back().empty()) others.push_back(needed[i]);
  }
  if (!others.empty()) {
    RS_ASSIGN_OR_RETURN(SweepResult run, RunSweep(input, others));
    auto next = run.rows.begin();
    for (std::vector<SweepRow>& of : tried)
      if (of.empty()) of = std::move(*next++);
  }
  return AddRows(input, needed, std::move(tried), own, report);
}

}  // namespace ringscope
