#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/perfetto/page.h"
#include "core/sweep/size_search.h"
#include "core/sweep/sweep_report.h"

namespace ringscope {
namespace {

constexpr size_t kMaxConfigurations = 4096;
constexpr double kScales[] = {0.125, 0.25, 0.5, 1, 2, 4, 8};

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

/// What `replay` does by itself, by its name.
NamedReads DefaultReads(const SessionFacts& facts) {
  const ReadsMode mode = facts.has_reads ? ReadsMode::kRecorded
                         : facts.streams ? ReadsMode::kStreamed
                                         : ReadsMode::kEnd;
  return {Name(mode), {mode, 0, {}}, /*assumed=*/!facts.has_reads};
}

/// Gives all buffers `scale` times their own size, rounded up to pages and at most kMaxTriedSize.
void Scale(SweepPoint& point, double scale, const SessionFacts& facts) {
  point.scale = scale;
  for (const auto& [id, buffer] : facts.buffers) {
    const double wanted = std::min(std::ceil(scale * static_cast<double>(buffer.size) / kPageBytes),
                                   static_cast<double>(kMaxTriedSize / kPageBytes));
    // As it is, it may be no whole number of pages.
    const uint64_t size = scale == 1 ? buffer.size : kPageBytes * static_cast<uint64_t>(wanted);
    point.options.session.buffers[id].size = std::max(size, std::min(kPageBytes, buffer.size));
  }
}

}  // namespace

Result<SessionFacts> ScanSession(OpSource& ops) {
  SessionFacts facts;
  facts.has_limited_reads = false;
  facts.commit_bytes = 0;
  ServiceReads service(/*all=*/false, /*period_ns=*/0);
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, ops.Next());
    if (!op) break;
    if (const auto* commit = std::get_if<Commit>(&op->body)) {
      facts.commit_bytes += commit->request.size();
      continue;
    }
    if (const auto* setup = std::get_if<BufferSetUp>(&op->body))
      facts.buffers[setup->id] = {setup->size, setup->policy};
    else if (const auto* read = std::get_if<ReadPass>(&op->body)) {
      facts.has_reads |= !service.AnswersNothing(*read);
      facts.has_limited_reads |= read->max_bytes || read->max_packets;
    } else if (const auto* registered = std::get_if<DataSourceRegistered>(&op->body))
      facts.has_programs |= !registered->protovm_program.empty();
    else if (std::holds_alternative<ProtoVmSetUp>(op->body))
      facts.has_programs = true;
    service.Take(*op, op->time_ns);
    facts.streams |= service.streams();
  }
  return facts;
}

std::vector<SweepSetting> MakeSettings(const SweepChoices& choices, const SessionFacts& facts) {
  std::vector<std::optional<std::string>> engines(choices.engines.begin(), choices.engines.end());
  std::vector<std::optional<FillPolicy>> policies(choices.policies.begin(), choices.policies.end());
  std::vector<NamedReads> reads = choices.reads;
  if (engines.empty()) engines.emplace_back();
  if (policies.empty()) policies.emplace_back();
  if (reads.empty()) reads.push_back(DefaultReads(facts));
  std::vector<SweepSetting> settings;
  for (const auto& engine : engines)
    for (const auto& policy : policies)
      for (const NamedReads& read : reads) settings.push_back({engine, policy, read});
  return settings;
}

SweepConfig OwnConfig(const SweepSetting& setting, size_t index, const SweepChoices& choices) {
  SweepConfig config{.setting = index, .options = {}};
  config.options.session.all.engine = setting.engine;
  config.options.session.all.policy = setting.policy;
  config.options.reads = setting.reads.choice;
  config.options.pass_bytes = choices.pass_bytes;
  return config;
}

Result<std::vector<SweepPoint>> MakePoints(const std::vector<SweepSetting>& settings,
                                           const SweepChoices& choices, const SessionFacts& facts) {
  const auto lists = JoinLists(choices);
  const bool all_fixed = std::ranges::all_of(
      facts.buffers, [&](const auto& buffer) { return lists.contains(buffer.first); });
  std::vector<double> scales(std::begin(kScales), std::end(kScales));
  if (all_fixed) scales = {1};
  if (lists.contains(std::nullopt)) scales.clear();
  size_t count = scales.size();
  for (const auto& [buffer, sizes] : lists) count = std::max(count, sizes.size());
  if (settings.size() * count > kMaxConfigurations)
    return tl::unexpected(TooMany(settings.size() * count));

  // Buffers do not affect each other: their sizes change together.
  std::vector<SweepPoint> points;
  for (size_t setting = 0; setting < settings.size(); ++setting)
    for (size_t i = 0; i < count; ++i) {
      SweepPoint& point =
          points.emplace_back(SweepPoint{OwnConfig(settings[setting], setting, choices)});
      if (!scales.empty()) Scale(point, scales[std::min(i, scales.size() - 1)], facts);
      for (const auto& [buffer, sizes] : lists) {
        const uint64_t size = sizes[std::min(i, sizes.size() - 1)];
        if (buffer)
          point.options.session.buffers[*buffer].size = size;
        else
          point.size = point.options.session.all.size = size;
      }
    }
  return points;
}

}  // namespace ringscope
