#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/doctor/examiner.h"
#include "core/doctor/finding.h"
#include "core/perfetto/packet_facts.h"
#include "core/trace/trace_facts.h"

namespace ringscope {
namespace {

/// Whose packets take most of the trace.
Sentence LargestText(const Examiner& examiner, const StageCount& left) {
  SharesOf shares;  // bytes
  for (const TraceSequence& sequence : examiner.facts.sequences)
    if (sequence.id != kServiceSequenceId)
      shares.emplace_back(SequenceName(examiner, sequence), sequence.all.bytes);
  std::ranges::stable_sort(shares, std::ranges::greater(), &SharesOf::value_type::second);
  return Say("of what is in the trace: {}", Shares("largest", shares, left.count.bytes, 2));
}

/// "Only the last 101.7 ms of 3.710 s are left": of the first ring that wrapped; empty: not known.
Sentence LeftText(const Examiner& examiner) {
  for (const TraceBuffer& buffer : examiner.facts.buffers) {
    const std::optional<int64_t> since_ns = LeftSince(examiner, buffer);
    if (!since_ns || buffer.stats.chunks_overwritten == 0 || examiner.config.write_into_file)
      continue;
    const TimeSpan& session = *examiner.session();
    return Say("Only the last {} of {} are left", Time("left_ns", session.last_ns - *since_ns),
               Time("duration_ns", session.length_ns()));
  }
  return {};
}

/// Returns true if the losses that a replay proves state all that this finding does.
bool IsOfLosses(const Finding& finding) {
  const std::string_view id = finding.rule->id;
  return id.starts_with("log.") || id == "buffer.overwritten" || id == "buffer.discarded" ||
         id == "buffer.packet_loss" || id == "buffer.short_reach" || id == "state.unusable";
}

/// The lines of the config that help most against what the headline names; empty: it has none.
/// @param findings the headline's and others
Sentence ChangeText(const Examiner& examiner, const Finding& headline,
                    const std::vector<Finding>& findings) {
  std::vector<ConfigChange> changes;
  for (const Finding& finding : findings)
    if (finding.rule == headline.rule || (IsOfLosses(finding) && IsOfLosses(headline)))
      for (const ConfigChange& change : finding.changes)
        if (std::ranges::find(changes, change.path, &ConfigChange::path) == changes.end())
          changes.push_back(change);
  std::vector<uint64_t> sizes_kb;
  for (const auto& buffer : examiner.config.buffers) sizes_kb.push_back(buffer.size_kb);
  return ChangesText(changes, sizes_kb);
}

/// Returns the titles of findings, each once.
std::string TitlesOf(const std::vector<const Finding*>& findings) {
  std::vector<std::string> titles;
  for (const Finding* finding : findings)
    if (std::ranges::find(titles, finding->rule->title) == titles.end())
      titles.emplace_back(finding->rule->title);
  return ShortList(titles, "further finding", "; ");
}

/// The replay's answer, with what else the trace shows.
Answer ReplayAnswerOf(const Diagnosis& diagnosis, const Examiner& examiner) {
  Answer answer = examiner.replay->answer;
  std::vector<const Finding*> others;
  const Finding* worst = nullptr;
  for (const Finding& finding : diagnosis.findings) {
    if (finding.harm <= Harm::kInfo || (IsOfLosses(finding) && finding.harm <= answer.severity))
      continue;
    if (worst == nullptr && finding.harm > answer.severity)
      worst = &finding;
    else
      others.push_back(&finding);
  }
  if (worst != nullptr) {
    // The headline is what is worst, and the severity is its.
    answer.lines.insert(answer.lines.begin(), {"Losses", std::move(answer.headline)});
    answer.severity = worst->harm;
    answer.headline = answer.Keep(StandaloneText(examiner, *worst));
    const Sentence change = ChangeText(examiner, *worst, {*worst});
    if (change.empty())
      answer.Add("Change", std::move(answer.change));
    else if (!answer.change.empty())
      ++answer.more_changes;
    answer.change = answer.Keep(change);
  }
  answer.Add("Also", TitlesOf(others));
  return answer;
}

}  // namespace

std::string ShortList(const std::vector<std::string>& texts, std::string_view further,
                      std::string_view between) {
  constexpr size_t kNamed = 3, kColumns = 115, kOfFurther = 20;
  std::string list;
  for (size_t i = 0; i < texts.size(); ++i) {
    const size_t space = kColumns - (i + 1 < texts.size() ? kOfFurther : 0);
    if (i > 0 && (i == kNamed || DisplayWidth(list) + DisplayWidth(texts[i]) > space))
      return fmt::format("{}{}{}", list, between, Count(texts.size() - i, further));
    list += i == 0 ? texts[i] : fmt::format("{}{}", between, texts[i]);
  }
  return list;
}

Sentence ChangesText(const std::vector<ConfigChange>& changes,
                     const std::vector<uint64_t>& sizes_kb) {
  std::vector<std::string> texts;
  Sentence list;
  for (const ConfigChange& change : changes) {
    std::string was;
    for (size_t i = 0; i < sizes_kb.size(); ++i)
      if (change.path == fmt::format("buffers[{}].size_kb", i)) {
        was = fmt::format("{} -> ", sizes_kb[i]);
        AddFigures(list.figures, Number("now." + change.path, sizes_kb[i]));
      }
    texts.push_back(fmt::format("{} {}{}{}", change.path, was, change.value,
                                change.is_estimate ? " (an estimate)" : ""));
  }
  list.text = ShortList(texts, "further line");
  return list;
}

Sentence UnusableHeadline(const Sentence& left, uint64_t unusable, uint64_t packets) {
  return Say("{}{} names of the events were lost: the UI can show {} of {}.", left,
             left.empty() ? "The" : ", and the", Number("usable", packets - unusable),
             Number("packets", packets, "packet"));
}

StageAccounts StagesOf(const Examiner& examiner) {
  using enum Stage;
  const TraceFacts& facts = examiner.facts;
  StageAccounts accounts;
  StageAccount& all = accounts.all;
  all[kSharedMemory].is_known = all[kFile].is_known = false;
  all[kCommit].places = facts.service.chunks_discarded;
  for (size_t i = 0; i < facts.buffers.size(); ++i) {
    const BufferStats& stats = facts.buffers[i].stats;
    all[kCommit].places += stats.abi_violations;
    accounts.buffers[BufferName(examiner, i)] = {
        {0, stats.bytes_overwritten},
        stats.chunks_discarded,
        facts.buffers[i].has_stats && stats.bytes_overwritten + stats.chunks_discarded == 0 &&
            stats.unread_bytes() == 0};
  }
  for (const TraceSequence& sequence : facts.sequences) {
    if (sequence.id == kServiceSequenceId) continue;
    const auto name = facts.process_names.find(sequence.pid.value_or(0));
    SequenceStages stages{{},
                          {name == facts.process_names.end() ? "" : Printable(name->second),
                           sequence.pid.value_or(0), sequence.machine},
                          Printable(sequence.thread_name),
                          sequence.id,
                          {},
                          sequence.buffer ? BufferName(examiner, *sequence.buffer) : ""};
    LossCounts losses = sequence.losses;
    if (sequence.lost_beginning()) losses.Add(sequence.first_loss_bits);
    const auto places = [&](LossBit bit) {
      return losses.by_bit[static_cast<size_t>(std::countr_zero<uint32_t>(bit)) - 1];
    };
    stages[kSharedMemory].places = places(kLossSmbFull) + places(kLossWriterAbort);
    stages[kBuffer].places = places(kLossOverwrite);
    const uint64_t known = stages[kSharedMemory].places + stages[kBuffer].places;
    stages[kUnknown].places =
        losses.sequence_packet_loss - std::min(losses.sequence_packet_loss, known);
    const auto buffer = accounts.buffers.find(stages.buffer);
    stages[kBuffer].is_known = buffer != accounts.buffers.end() && buffer->second.is_known;
    stages[kSharedMemory].is_known = stages[kFile].is_known = false;
    stages[kLeft].count = {sequence.all.packets, sequence.all.bytes};
    stages.unusable = sequence.skipped;
    // A trace can be made of sequences: not all are listed.
    if (accounts.sequences.size() == 10'000)
      all += stages;
    else
      accounts.sequences.push_back(std::move(stages));
  }
  accounts.Sum();
  all[kCommit].is_known = facts.stats_packets > 0 && all[kCommit].places == 0;
  all[kKernel] = KernelLosses(facts.ftrace);
  all[kImport].count.packets = facts.late_events;
  return accounts;
}

Answer AnswerOf(const Diagnosis& diagnosis, const Sentence& headline, const Examiner& examiner) {
  if (examiner.is_of_log()) return ReplayAnswerOf(diagnosis, examiner);
  Answer answer;
  for (const Finding& finding : diagnosis.findings)
    if (finding.harm > Harm::kInfo) answer.severity = std::max(answer.severity, finding.harm);
  const std::vector<Finding>& findings = diagnosis.findings;
  const StageAccount& stages = diagnosis.stages.all;
  answer.packets = stages[Stage::kLeft].count.packets;
  answer.usable = answer.packets - stages.unusable;
  const bool is_unusable =
      !findings.empty() && findings.front().rule->id == std::string_view("state.unusable");
  answer.headline = answer.Keep(
      is_unusable ? UnusableHeadline(LeftText(examiner), stages.unusable, answer.packets)
                  : headline);
  if (examiner.facts.all.packets > 0) answer.Add("Stages", StagesText(diagnosis.stages));
  const auto loss = std::ranges::find_if(findings, [](const Finding& finding) {
    return std::string_view(finding.rule->id).starts_with("buffer.");
  });
  if (loss != findings.end()) {
    answer.Add("Why", examiner.facts.buffers.size() < 2 || loss->cause.empty()
                          ? loss->cause
                          : Say("{}: {}", loss->where, loss->cause));
    if (IsOfLosses(*loss)) answer.Add("Largest", LargestText(examiner, stages[Stage::kLeft]));
  }
  if (answer.severity > Harm::kOk)
    answer.change = answer.Keep(ChangeText(examiner, findings.front(), findings));
  if (answer.severity > Harm::kOk && answer.change.empty())
    answer.Add("Change", findings.front().remedy);
  std::vector<const Finding*> others;
  for (size_t i = 1; i < findings.size(); ++i)
    if (findings[i].harm > Harm::kInfo) others.push_back(&findings[i]);
  answer.Add("Also", TitlesOf(others));
  return answer;
}

}  // namespace ringscope
