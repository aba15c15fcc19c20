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

/// Adds the losses that the statistics of each buffer count, with its name if there are several.
void AddBufferLosses(const Examiner& examiner, std::vector<std::string>& texts) {
  const std::vector<TraceBuffer>& buffers = examiner.facts.buffers;
  const bool is_alone = buffers.size() == 1;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const BufferStats& stats = buffers[i].stats;
    std::vector<std::string> parts;
    if (stats.bytes_overwritten > 0)
      parts.push_back(fmt::format(
          "{} of {} written ({}) were overwritten unread", HumanSize(stats.bytes_overwritten),
          HumanSize(stats.bytes_written), ShareText(stats.bytes_overwritten, stats.bytes_written)));
    if (stats.chunks_discarded > 0)
      parts.push_back(Count(stats.chunks_discarded, "chunk") +
                      (is_alone ? " came to a full buffer" : " came when it was full"));
    if (parts.empty()) continue;
    texts.push_back(is_alone ? Joined(parts)
                             : fmt::format("{}: {}", BufferName(examiner, i), Joined(parts)));
  }
}

/// Returns the losses that the buffers' statistics and the packets count.
std::string LostText(const Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  if (facts.all.packets == 0) return {};  // a config alone
  if (facts.stats_packets == 0)
    return "Not known: the trace has no statistics, which the service writes at the end.";
  uint64_t places = 0, cut_starts = 0;
  for (const TraceSequence& sequence : facts.sequences) {
    places += sequence.losses.sequence_packet_loss;
    cut_starts += sequence.lost_beginning() ? 1 : 0;
  }
  std::vector<std::string> parts;
  AddBufferLosses(examiner, parts);
  if (places > 0)
    parts.push_back(fmt::format("packets of a sequence are missing at {}", Count(places, "place")));
  if (cut_starts > 0)
    parts.push_back(fmt::format("{} lost packets before the first", Count(cut_starts, "sequence")));
  if (parts.empty()) return "No buffer counts a loss, and no packet reports one.";
  return Joined(parts, "; ") + ". A trace does not show how many packets that is.";
}

/// Why buffers lost data: the first finding's cause, and where there are several buffers, each that
/// was full.
/// @param first of the group "buffer."
std::string WhyText(const Diagnosis& diagnosis, const Examiner& examiner, const Finding& first) {
  constexpr size_t kNamed = 3;
  if (examiner.facts.buffers.size() < 2) return first.cause;
  std::vector<std::string> parts;
  for (const Finding& finding : diagnosis.findings) {
    const std::string_view id = finding.rule->id;
    const bool was_full = id == "buffer.overwritten" || id == "buffer.discarded";
    if (!(was_full || &finding == &first) || finding.cause.empty() || parts.size() == kNamed)
      continue;
    parts.push_back(fmt::format("{}: {}", finding.where, finding.cause));
  }
  return Joined(parts, " ");
}

/// Whose packets take most of the buffers, by all chunks that were committed, as the service counts
/// them; or else of the file. V1 buffers count only chunks that were read to their end, and full
/// buffers that discard only what they took.
std::string FilledByText(const Examiner& examiner) {
  constexpr size_t kNamed = 2;
  const TraceFacts& facts = examiner.facts;
  const auto counts_all = [&](const WriterAccount& writer) {
    const auto& buffers = examiner.config.buffers;
    return writer.buffer < buffers.size() && buffers[writer.buffer].is_v2;
  };
  const bool has_discarded = std::ranges::any_of(
      facts.buffers, [](const TraceBuffer& buffer) { return buffer.stats.chunks_discarded > 0; });
  const bool of_all =
      !facts.writers.empty() && !has_discarded && std::ranges::all_of(facts.writers, counts_all);
  std::map<uint32_t, std::pair<uint64_t, std::string>> by_id;  // bytes, and who wrote them
  for (const TraceSequence& sequence : facts.sequences) {
    if (sequence.id == 0 || sequence.id == kServiceSequenceId || sequence.machine != 0) continue;
    by_id[sequence.id] = {of_all ? 0 : sequence.all.bytes, SequenceName(examiner, sequence)};
  }
  for (const WriterAccount& writer : facts.writers) {
    if (!of_all) break;
    auto& [bytes, name] = by_id[writer.sequence];
    bytes += writer.bytes;
    if (name.empty()) name = fmt::format("sequence {}", writer.sequence);
  }
  uint64_t all = 0;
  std::vector<std::pair<uint64_t, std::string>> largest;
  for (auto& [id, share] : by_id) {
    all += share.first;
    largest.push_back(std::move(share));
  }
  std::ranges::stable_sort(largest, std::ranges::greater(),
                           [](const auto& one) { return one.first; });
  std::vector<std::string> parts;
  for (const auto& [bytes, name] : largest) {
    if (parts.size() == kNamed) break;
    parts.push_back(fmt::format("{}, {}", name, ShareText(bytes, all)));
    if (parts.size() == 1)
      parts.back() += of_all ? " of what was written" : " of what is in the trace";
  }
  return Joined(parts, "; ");
}

/// Returns how many of the packets that are left can be used.
std::string UsableText(const TraceFacts& facts) {
  uint64_t unusable = 0;
  for (const TraceSequence& sequence : facts.sequences) unusable += sequence.skipped;
  if (unusable == 0) return {};
  return fmt::format(
      "{} of {} of producers that are left; the others need incremental state that was "
      "lost.",
      WithCommas(facts.data_packets - unusable), Count(facts.data_packets, "packet"));
}

/// Returns true if the losses that a replay proves state all that this finding does.
bool IsOfLosses(const Finding& finding) {
  const std::string_view id = finding.rule->id;
  return id.starts_with("log.") || id == "buffer.overwritten" || id == "buffer.discarded" ||
         id == "buffer.packet_loss" || id == "buffer.short_reach" || id == "state.unusable";
}

/// The lines of the config that help most against what the headline names; empty: it has none.
/// @param findings the headline's and others
std::string ChangeText(const Finding& headline, const std::vector<Finding>& findings) {
  constexpr size_t kNamed = 2;
  std::vector<std::string> parts;
  size_t estimates = 0;
  for (const Finding& finding : findings) {
    if (finding.rule != headline.rule && !(IsOfLosses(finding) && IsOfLosses(headline))) continue;
    for (const ConfigChange& change : finding.changes) {
      std::string text = fmt::format("{}: {}", change.path, change.value);
      if (parts.size() == kNamed || std::ranges::find(parts, text) != parts.end()) continue;
      estimates += change.is_estimate ? 1 : 0;
      parts.push_back(std::move(text));
    }
  }
  if (parts.empty()) return {};
  return Joined(parts) + (estimates == 0 ? "" : estimates == 1 ? " (an estimate)" : " (estimates)");
}

void AddTitle(const Finding& finding, std::vector<std::string>& titles) {
  if (std::ranges::find(titles, finding.rule->title) == titles.end())
    titles.emplace_back(finding.rule->title);
}

/// The replay's answer, with what else the trace shows.
Answer ReplayAnswerOf(const Diagnosis& diagnosis, const Examiner& examiner) {
  Answer answer = examiner.replay->answer;
  std::vector<std::string> others;
  const Finding* worst = nullptr;
  for (const Finding& finding : diagnosis.findings) {
    if (finding.harm <= Harm::kInfo || (IsOfLosses(finding) && finding.harm <= answer.severity))
      continue;
    if (worst == nullptr && finding.harm > answer.severity)
      worst = &finding;
    else
      AddTitle(finding, others);
  }
  if (worst != nullptr) {
    // The headline is what is worst, and the severity is its.
    answer.lines.insert(answer.lines.begin(), {"Losses", std::move(answer.headline)});
    answer.severity = worst->harm;
    answer.headline = StandaloneText(examiner, *worst);
    answer.change = ChangeText(*worst, {*worst});
  }
  answer.Add("Also", Joined(others, "; "));
  return answer;
}

}  // namespace

Answer AnswerOf(const Diagnosis& diagnosis, const Examiner& examiner) {
  if (examiner.is_of_log()) return ReplayAnswerOf(diagnosis, examiner);
  Answer answer{
      .severity = diagnosis.harm, .headline = diagnosis.verdict, .change = {}, .lines = {}};
  const std::vector<Finding>& findings = diagnosis.findings;
  answer.Add("Lost", LostText(examiner));
  const auto loss = std::ranges::find_if(findings, [](const Finding& finding) {
    return std::string_view(finding.rule->id).starts_with("buffer.");
  });
  if (loss != findings.end()) {
    answer.Add("Why", WhyText(diagnosis, examiner, *loss));
    if (IsOfLosses(*loss)) answer.Add("Largest", FilledByText(examiner));
  }
  answer.Add("Usable", UsableText(examiner.facts));
  std::vector<std::string> more;
  for (size_t i = 1; i < findings.size(); ++i)
    if (findings[i].harm > Harm::kInfo) AddTitle(findings[i], more);
  answer.Add("Also", Joined(more, "; "));
  if (diagnosis.harm > Harm::kInfo) answer.change = ChangeText(findings.front(), findings);
  if (diagnosis.harm > Harm::kInfo && answer.change.empty())
    answer.Add("Change", findings.front().remedy);
  return answer;
}

}  // namespace ringscope
