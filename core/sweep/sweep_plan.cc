#include "core/sweep/sweep_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/perfetto/page.h"

namespace ringscope {
namespace {

constexpr size_t kMaxConfigurations = 4096;
constexpr double kScales[] = {0.125, 0.25, 0.5, 1, 2, 4, 8};

/// One choice from each list: of all buffers, and of single ones.
struct SizeChoice {
  std::optional<uint64_t> all;
  std::map<BufferId, uint64_t> buffers;
};

Error TooMany(size_t count) {
  return {ErrorCode::kUsage,
          fmt::format("that makes {} configurations or more, and {} are allowed", WithCommas(count),
                      WithCommas(kMaxConfigurations)),
          {},
          "choose fewer sizes, or a larger factor: --sizes 256k..64Mx4"};
}

/// The lists of single buffers, joined, and of all buffers.
std::map<std::optional<BufferId>, std::vector<uint64_t>> JoinLists(const SweepChoices& choices) {
  std::map<std::optional<BufferId>, std::vector<uint64_t>> lists;
  for (const SizeList& list : choices.sizes) {
    std::vector<uint64_t>& sizes = lists[list.buffer];
    sizes.insert(sizes.end(), list.sizes.begin(), list.sizes.end());
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  }
  return lists;
}

Result<std::vector<SizeChoice>> CombineSizes(const SweepChoices& choices) {
  std::vector<SizeChoice> combined = {{}};
  for (const auto& [buffer, sizes] : JoinLists(choices)) {
    if (combined.size() * sizes.size() > kMaxConfigurations)
      return tl::unexpected(TooMany(combined.size() * sizes.size()));
    std::vector<SizeChoice> longer;
    for (const SizeChoice& choice : combined) {
      for (const uint64_t size : sizes) {
        SizeChoice& next = longer.emplace_back(choice);
        if (buffer)
          next.buffers[*buffer] = size;
        else
          next.all = size;
      }
    }
    combined = std::move(longer);
  }
  return combined;
}

ReplayOptions ConfigOf(const SweepSetting& setting, const SweepChoices& choices) {
  ReplayOptions config;
  config.session.all.engine = setting.engine;
  config.session.all.policy = setting.policy;
  if (setting.programs) config.session.programs = setting.programs->choice;
  config.reads = setting.reads.choice;
  config.pass_bytes = choices.pass_bytes;
  config.moves_sequences = !choices.splits.empty();
  return config;
}

}  // namespace

Result<std::optional<Op>> FactsSource::Next() {
  RS_ASSIGN_OR_RETURN(std::optional<Op> op, source_.Next());
  if (!op) return op;
  if (const auto* setup = std::get_if<BufferSetUp>(&op->body))
    facts_.buffers[setup->id] = {setup->size, setup->policy};
  else if (const auto* connected = std::get_if<ProducerConnected>(&op->body))
    facts_.producers[connected->producer] = connected->name;
  else if (const auto* commit = std::get_if<Commit>(&op->body))
    facts_.commit_bytes += commit->request.size();
  else if (const auto* read = std::get_if<ReadPass>(&op->body))
    facts_.has_reads |= !service_.AnswersNothing(*read);
  if (!std::holds_alternative<Commit>(op->body)) {
    service_.Take(*op, op->time_ns);
    facts_.streams |= service_.streams();
  }
  return op;
}

Result<SessionFacts> ScanSession(OpSource& ops, const std::vector<RetargetRule>& splits) {
  SessionFacts facts;
  RetargetSource split(ops, splits, SweepRelease);
  FactsSource source(split, facts);
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, source.Next());
    if (!op) break;
  }
  facts.unused_splits = split.UnusedRules();
  return facts;
}

bool PlansBlindly(const SweepChoices& choices) {
  const bool has_size_for_all =
      std::any_of(choices.sizes.begin(), choices.sizes.end(),
                  [](const SizeList& list) { return !list.buffer && !list.sizes.empty(); });
  return has_size_for_all && choices.splits.empty();
}

namespace {

/// What `replay` does by itself, by its name.
NamedReads DefaultReads(const SessionFacts& facts) {
  const ReadsMode mode = facts.has_reads ? ReadsMode::kRecorded
                         : facts.streams ? ReadsMode::kStreamed
                                         : ReadsMode::kEnd;
  return {Name(mode), {mode, 0, {}}, /*assumed=*/!facts.has_reads};
}

}  // namespace

void NameReads(const SessionFacts& facts, SweepPlan& plan) {
  for (SweepSetting& setting : plan.settings)
    if (setting.reads.choice.mode == ReadsMode::kAuto) setting.reads = DefaultReads(facts);
}

std::vector<SweepSetting> MakeSettings(const SweepChoices& choices, const SessionFacts& facts) {
  std::vector<std::optional<std::string>> engines(choices.engines.begin(), choices.engines.end());
  std::vector<std::optional<FillPolicy>> policies(choices.policies.begin(), choices.policies.end());
  std::vector<std::optional<NamedPrograms>> programs(choices.programs.begin(),
                                                     choices.programs.end());
  std::vector<NamedReads> reads = choices.reads;
  if (engines.empty()) engines.emplace_back();
  if (policies.empty()) policies.emplace_back();
  if (programs.empty()) programs.emplace_back();
  if (reads.empty()) {
    if (PlansBlindly(choices))
      reads.push_back({"auto", {ReadsMode::kAuto, 0, {}}});  // see NameReads
    else
      reads.push_back(DefaultReads(facts));
  }
  std::vector<SweepSetting> settings;
  for (const auto& engine : engines)
    for (const auto& policy : policies)
      for (const NamedReads& read : reads)
        for (const auto& program : programs) settings.push_back({engine, policy, read, program});
  return settings;
}

SweepPoint ScaledPoint(const SweepSetting& setting, size_t index, double scale,
                       const SweepChoices& choices, const SessionFacts& facts,
                       const std::map<BufferId, uint64_t>& fixed) {
  SweepPoint point{.setting = index, .scale = scale, .size = {}, .config = {}};
  point.config = ConfigOf(setting, choices);
  for (const auto& [id, buffer] : facts.buffers) {
    const double wanted = std::min(std::ceil(scale * static_cast<double>(buffer.size) / kPageBytes),
                                   static_cast<double>(kMaxScaledSize / kPageBytes));
    // As it is, it may be no whole number of pages.
    const uint64_t size = scale == 1 ? buffer.size : kPageBytes * static_cast<uint64_t>(wanted);
    point.config.session.buffers[id].size = std::max(size, std::min(kPageBytes, buffer.size));
  }
  for (const auto& [id, size] : fixed) point.config.session.buffers[id].size = size;
  return point;
}

Result<std::vector<std::optional<BufferNeeds>>> FindNeededSizes(
    const SweepInput& input, const std::vector<SweepSetting>& settings, const SweepChoices& choices,
    const SessionFacts& facts) {
  std::vector<std::optional<BufferNeeds>> needs;
  for (const SweepSetting& setting : settings) {
    std::optional<BufferNeeds>& of = needs.emplace_back();
    if (setting.reads.choice.mode == ReadsMode::kNone) continue;
    const SweepPoint own = ScaledPoint(setting, 0, 1, choices, facts, {});
    RS_ASSIGN_OR_RETURN(of, FindNeededSizes(input, own.config));
  }
  return needs;
}

void AddNeededSizes(const std::vector<std::optional<BufferNeeds>>& needs,
                    const SweepChoices& choices, const SessionFacts& facts, SweepPlan& plan) {
  for (size_t i = 0; i < needs.size(); ++i) {
    if (!needs[i] || needs[i]->sizes.empty()) continue;
    std::map<BufferId, uint64_t> sizes;
    for (const NeededSize& one : needs[i]->sizes) sizes[one.buffer] = one.size;
    SweepPoint& point =
        plan.points.emplace_back(ScaledPoint(plan.settings[i], i, 1, choices, facts, sizes));
    point.scale.reset();
  }
}

Result<SweepPlan> MakePlan(const SweepChoices& choices, const SessionFacts& facts) {
  SweepPlan plan;
  plan.settings = MakeSettings(choices, facts);
  RS_ASSIGN_OR_RETURN(const std::vector<SizeChoice> sizes, CombineSizes(choices));
  const bool scaled = !sizes.front().all;
  const size_t points = plan.settings.size() * sizes.size() * (scaled ? std::size(kScales) : 1);
  if (points > kMaxConfigurations) return tl::unexpected(TooMany(points));

  const bool all_fixed =
      std::all_of(facts.buffers.begin(), facts.buffers.end(),
                  [&](const auto& buffer) { return sizes.front().buffers.contains(buffer.first); });
  for (size_t i = 0; i < plan.settings.size(); ++i) {
    for (const SizeChoice& choice : sizes) {
      if (scaled) {
        for (const double scale : kScales) {
          if (all_fixed && scale != 1) continue;
          plan.points.push_back(
              ScaledPoint(plan.settings[i], i, scale, choices, facts, choice.buffers));
        }
        continue;
      }
      SweepPoint point{.setting = i, .scale = {}, .size = choice.all, .config = {}};
      point.config = ConfigOf(plan.settings[i], choices);
      point.config.session.all.size = choice.all;
      for (const auto& [id, size] : choice.buffers) point.config.session.buffers[id].size = size;
      plan.points.push_back(std::move(point));
    }
  }
  return plan;
}

}  // namespace ringscope
