#include <fmt/format.h>

#include <algorithm>
#include <map>
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

/// Returns the losses that the buffers' statistics and the packets count.
std::string LostText(const Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  if (facts.all.packets == 0) return {};  // a config alone
  if (facts.stats_packets == 0)
    return "Not known: the trace has no statistics, which the service writes at the end.";
  std::vector<std::string> parts;
  for (size_t i = 0; i < facts.buffers.size(); ++i) {
    const BufferStats& stats = facts.buffers[i].stats;
    const std::string of = facts.buffers.size() == 1 ? "" : " of " + BufferName(examiner, i);
    if (stats.bytes_overwritten > 0)
      parts.push_back(fmt::format("{} of {}{} ({}) overwritten", HumanSize(stats.bytes_overwritten),
                                  HumanSize(stats.bytes_written), of,
                                  ShareText(stats.bytes_overwritten, stats.bytes_written)));
    if (stats.chunks_discarded > 0)
      parts.push_back(Count(stats.chunks_discarded, "chunk") + of + " discarded");
  }
  uint64_t places = 0, cut_starts = 0;
  for (const TraceSequence& sequence : facts.sequences) {
    places += sequence.losses.sequence_packet_loss;
    cut_starts += sequence.lost_beginning() ? 1 : 0;
  }
  if (places > 0) parts.push_back("packets missing at " + Count(places, "place"));
  if (cut_starts > 0) parts.push_back("the beginning of " + Count(cut_starts, "sequence"));
  if (parts.empty()) return "No buffer counts a loss, and no packet reports one.";
  return Joined(parts);
}

/// Whose packets take most of the buffers, by all chunks that were committed, as the service counts
/// them; or else of the file. V1 buffers count only chunks that were read to their end, and full
/// buffers that discard only what they took.
std::string FilledByText(const Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  const auto counts_all = [&](const WriterAccount& writer) {
    const auto& buffers = examiner.config.buffers;
    return writer.buffer < buffers.size() && buffers[writer.buffer].is_v2;
  };
  const bool has_discarded = std::ranges::any_of(
      facts.buffers, [](const TraceBuffer& buffer) { return buffer.stats.chunks_discarded > 0; });
  const bool of_all =
      !facts.writers.empty() && !has_discarded && std::ranges::all_of(facts.writers, counts_all);
  std::map<uint32_t, std::pair<std::string, uint64_t>> by_id;  // who wrote, and bytes
  for (const TraceSequence& sequence : facts.sequences) {
    if (sequence.id == 0 || sequence.id == kServiceSequenceId || sequence.machine != 0) continue;
    by_id[sequence.id] = {SequenceName(examiner, sequence), of_all ? 0 : sequence.all.bytes};
  }
  for (const WriterAccount& writer : facts.writers) {
    if (!of_all) break;
    auto& [name, bytes] = by_id[writer.sequence];
    bytes += writer.bytes;
    if (name.empty()) name = fmt::format("sequence {}", writer.sequence);
  }
  uint64_t all = 0;
  SharesOf largest;
  for (auto& [id, share] : by_id) {
    all += share.second;
    largest.push_back(std::move(share));
  }
  std::ranges::stable_sort(largest, std::ranges::greater(), &SharesOf::value_type::second);
  return (of_all ? "of what was written: " : "of what is in the trace: ") +
         SharesText(largest, all, 2);
}

/// "Only the last 101.7 ms of 3.710 s are left": of the first ring that wrapped; empty: not known.
std::string LeftText(const Examiner& examiner) {
  for (const TraceBuffer& buffer : examiner.facts.buffers) {
    const std::optional<int64_t> since_ns = LeftSince(examiner, buffer);
    if (!since_ns || buffer.stats.chunks_overwritten == 0 || examiner.config.write_into_file)
      continue;
    const TimeSpan& session = *examiner.session();
    return fmt::format("Only the last {} of {} are left",
                       HumanDuration(static_cast<uint64_t>(session.last_ns - *since_ns)),
                       HumanDuration(static_cast<uint64_t>(session.length_ns())));
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
std::string ChangeText(const Examiner& examiner, const Finding& headline,
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
    answer.headline = StandaloneText(examiner, *worst);
    std::string change = ChangeText(examiner, *worst, {*worst});
    if (change.empty())
      answer.Add("Change", std::move(answer.change));
    else if (!answer.change.empty())
      ++answer.more_changes;
    answer.change = std::move(change);
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

std::string ChangesText(const std::vector<ConfigChange>& changes,
                        const std::vector<uint64_t>& sizes_kb) {
  std::vector<std::string> texts;
  for (const ConfigChange& change : changes) {
    std::string was;
    for (size_t i = 0; i < sizes_kb.size(); ++i)
      if (change.path == fmt::format("buffers[{}].size_kb", i))
        was = fmt::format("{} -> ", sizes_kb[i]);
    texts.push_back(fmt::format("{} {}{}{}", change.path, was, change.value,
                                change.is_estimate ? " (an estimate)" : ""));
  }
  return ShortList(texts, "further line");
}

std::string UnusableHeadline(const std::string& left, uint64_t unusable, uint64_t packets) {
  return fmt::format("{} names of the events were lost: the UI can show {} of {}.",
                     left.empty() ? "The" : left + ", and the", WithCommas(packets - unusable),
                     Count(packets, "packet"));
}

Answer AnswerOf(const Diagnosis& diagnosis, const Examiner& examiner) {
  if (examiner.is_of_log()) return ReplayAnswerOf(diagnosis, examiner);
  Answer answer{.severity = diagnosis.harm, .headline = diagnosis.verdict, .lines = {}};
  const std::vector<Finding>& findings = diagnosis.findings;
  uint64_t unusable = 0;
  for (const TraceSequence& sequence : examiner.facts.sequences) unusable += sequence.skipped;
  const uint64_t packets = examiner.facts.data_packets;
  answer.packets = packets;
  answer.usable = packets - unusable;
  if (!findings.empty() && findings.front().rule->id == std::string_view("state.unusable")) {
    answer.headline = UnusableHeadline(LeftText(examiner), unusable, packets);
  } else if (unusable > 0) {
    answer.Add("Usable", fmt::format("{} of {}; the others need incremental state that was lost",
                                     WithCommas(packets - unusable), Count(packets, "packet")));
  }
  answer.Add("Lost", LostText(examiner));
  const auto loss = std::ranges::find_if(findings, [](const Finding& finding) {
    return std::string_view(finding.rule->id).starts_with("buffer.");
  });
  if (loss != findings.end()) {
    answer.Add("Why", examiner.facts.buffers.size() < 2 || loss->cause.empty()
                          ? loss->cause
                          : fmt::format("{}: {}", loss->where, loss->cause));
    if (IsOfLosses(*loss)) answer.Add("Largest", FilledByText(examiner));
  }
  if (diagnosis.harm > Harm::kInfo)
    answer.change = ChangeText(examiner, findings.front(), findings);
  if (diagnosis.harm > Harm::kInfo && answer.change.empty())
    answer.Add("Change", findings.front().remedy);
  std::vector<const Finding*> others;
  for (size_t i = 1; i < findings.size(); ++i)
    if (findings[i].harm > Harm::kInfo) others.push_back(&findings[i]);
  answer.Add("Also", TitlesOf(others));
  return answer;
}

}  // namespace ringscope
