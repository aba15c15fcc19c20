#include <cctype>

#include "core/examine/examination.h"
#include "core/examine/loss_words.h"
#include "core/session/read_policy.h"

namespace ringscope {
namespace {

/// Returns true if the losses that a replay proves state all that this finding does.
bool IsOfLosses(const Finding& finding) {
  constexpr std::string_view kRules[] = {"buffer.overwritten", "buffer.discarded",
                                         "buffer.packet_loss", "buffer.short_reach",
                                         "state.unusable"};
  return finding.rule->id.starts_with("log.") || Contains(kRules, finding.rule->id);
}

/// "buffers[0].size_kb 256 -> 7424 (an estimate)"; an entry that is added for a producer as it is
/// in the config: 'producers { producer_name: "app" shm_size_kb: 512 }'.
/// @param sizes of the buffers today, bytes, by their index in the config
Sentence ChangesText(const std::vector<ConfigChange>& changes,
                     const std::map<uint32_t, uint64_t>& sizes) {
  std::vector<std::string> texts;
  Sentence list;
  std::string producer;
  for (const ConfigChange& change : changes) {
    if (change.path.ends_with(".producer_name")) {
      producer = change.value;
      continue;
    }
    const std::string estimate = change.is_estimate ? " (an estimate)" : "";
    if (const std::string added = std::exchange(producer, {}); !added.empty()) {
      texts.push_back(fmt::format("producers {{ producer_name: {} shm_size_kb: {} }}{}", added,
                                  change.value, estimate));
      continue;
    }
    std::string was;
    for (const auto& [index, size] : sizes)
      if (change.path == fmt::format("buffers[{}].size_kb", index)) {
        was = fmt::format("{} -> ", size / 1024);
        AddFigures(list.figures, Number("now." + change.path, size / 1024));
      }
    texts.push_back(fmt::format("{}{} {}{}{}", change.is_alternative ? "or " : "", change.path, was,
                                change.value, estimate));
  }
  list.text = ShortList(texts, "further change");
  return list;
}

/// Returns the titles of findings, each once.
std::string TitlesOf(const std::vector<const Finding*>& findings) {
  std::vector<std::string> titles;
  for (const Finding* finding : findings)
    if (!Contains(titles, finding->rule->title)) titles.emplace_back(finding->rule->title);
  return ShortList(titles, "further finding", "; ");
}

/// Words one answer. A log proves its losses packet by packet, and they are the headline unless
/// another finding is worse; of a trace alone the worst finding is.
class AnswerBuilder {
 public:
  AnswerBuilder(const Examination& examination, const LogLosses* losses)
      : examined_(examination), stages_(examination.account.all), losses_(losses) {
    answer_.packets = stages_[Stage::kLeft].count.packets;
    answer_.usable = answer_.packets - stages_.unusable;
    const auto shortest = std::ranges::min_element(
        examination.reach, {}, [](const auto& reach) { return reach.second.ns; });
    if (shortest != examination.reach.end()) shortest_ = shortest->first;
  }

  Answer Build() {
    const std::vector<Finding>& findings = examined_.findings;
    if (losses_ != nullptr) {
      AddLosses();
      answer_.change = answer_.Keep(ChangeOfReplays());
      AddWorst();
    } else {
      AddProofs();
      if (answer_.severity > Harm::kInfo) {
        answer_.change = answer_.Keep(ChangeOf(findings.front(), findings));
        if (answer_.change.empty()) answer_.Add("Change", findings.front().remedy);
      }
    }
    for (const Finding& finding : findings)
      if (finding.rule->id == "ftrace.overrun" && finding.harm == Harm::kInfo &&
          answer_.headline != finding.what.text)
        answer_.Add("Kernel", Say("{} No packet reports a loss.", finding.what));
    answer_.Add("Also", TitlesOf(others_));
    if (HasStages()) answer_.Add("Stages", StagesText(examined_.account));
    return std::move(answer_);
  }

 private:
  /// Returns true if the account says more than the headline.
  bool HasStages() const {
    if (losses_ == nullptr)
      return examined_.trace && !examined_.trace->IsOfTool() && examined_.trace->all.packets > 0;
    return answer_.severity > Harm::kWarning || losses_->totals.written.packets > answer_.packets ||
           stages_[Stage::kKernel].count.packets > 0;
  }

  /// The lines of a log, and its losses as the headline.
  void AddLosses() {
    const LogLosses& losses = *losses_;
    const ReplayOutcome& outcome = examined_.log->outcome;
    const bool is_lost = losses.any();
    Sentence headline = losses.headline;
    if (HarmOfUnusable(stages_.unusable, answer_.packets) == Harm::kError) {
      answer_.severity = Harm::kError;
      headline = UnusableHeadline(losses.worst_buffer);
    } else if (is_lost || losses.waiting > 0) {
      answer_.severity = Harm::kDataLoss;
    } else if (!losses.signs.empty()) {
      answer_.severity = Harm::kWarning;
    }
    if (is_lost && outcome.reads.assumed && outcome.reads.mode == ReadsMode::kEnd) {
      headline.text.front() = static_cast<char>(std::tolower(headline.text.front()));
      headline =
          Say("If the session was read only at its end, which the log does not show: {}", headline);
      answer_.Add("Better", "--config CONFIG if it was written into a file, or --reads like=TRACE");
    }
    answer_.headline = answer_.Keep(headline);
    answer_.Add("Why", losses.why);
    answer_.Add("Over time", losses.over_time);
    answer_.Add("Lost by", losses.losers);
    const bool has_both = !losses.sources.empty() && !losses.needed.empty();
    answer_.Add("Sources",
                has_both ? Say("{}; {}", losses.sources, losses.needed) : losses.sources);
    if (!has_both) answer_.Add("Needed", losses.needed);
    answer_.Add("Evicted by", losses.evictors);
    answer_.Add("Dropped", losses.dropped);
    answer_.Add("Folded", FoldedText(outcome, losses.totals[Fate::kFolded]));
    answer_.Add("Stalled", losses.still_there);
    answer_.Add("Late", losses.stale);
    if (is_lost || losses.waiting > 0) answer_.Add("More hints", losses.signs);
    answer_.Add("Clones", losses.clones);
    answer_.Add("Assumed", ReadsNotes(outcome.reads));
  }

  /// The headline and the lines of what a trace or a config alone proves.
  void AddProofs() {
    const std::vector<Finding>& findings = examined_.findings;
    for (const Finding& finding : findings) {
      if (finding.harm <= Harm::kInfo) continue;
      answer_.severity = std::max(answer_.severity, finding.harm);
      if (&finding != &findings.front()) others_.push_back(&finding);
    }
    const Finding* const noted = answer_.severity > Harm::kOk ? nullptr : NotedFinding();
    if (noted != nullptr) answer_.severity = Harm::kInfo;
    answer_.headline = answer_.Keep(ProvedHeadline(noted));
    if (!examined_.trace)
      for (const std::string& held : examined_.well) answer_.Add("Holds", held);
    if (!examined_.trace) return;
    AddSources();
    if (examined_.trace->IsOfTool()) return answer_.Add("Holds", HeldText());
    AddTraceLosses(noted != nullptr               ? noted
                   : answer_.severity > Harm::kOk ? &findings.front()
                                                  : nullptr);
  }

  /// The cause of what the headline states, and of what a trace's buffers lost.
  /// @param headline the finding that it is of; nullptr: of none
  void AddTraceLosses(const Finding* headline) {
    const std::vector<Finding>& findings = examined_.findings;
    auto loss = std::ranges::find_if(
        findings, [](const Finding& finding) { return finding.rule->id.starts_with("buffer."); });
    if (headline != nullptr &&
        (headline->rule->id == "state.unusable" || headline->rule->id == "buffer.overwritten"))
      if (const auto ring = std::ranges::find_if(
              findings, [&](const auto& finding) { return IsOfShortest(finding); });
          ring != findings.end())
        loss = ring;
    const bool is_other = headline != nullptr && loss != findings.begin() && !IsOfLosses(*headline);
    if (is_other) answer_.Add("Why", headline->cause);
    if (loss == findings.end()) return;
    if (headline == &*loss && answer_.severity == Harm::kInfo && !headline->changes.empty())
      answer_.Add("Size", Say("{}, to keep the whole session", ChangeOf(*headline, findings)));
    answer_.Add(is_other ? "Buffer" : "Why",
                examined_.trace->buffers.size() < 2 || loss->cause.empty()
                    ? loss->cause
                    : Say("{}: {}", loss->where, loss->cause));
    if (IsOfLosses(*loss) && examined_.trace->data_packets > 0)
      answer_.Add("Largest", LargestText());
  }

  /// Returns true for what the ring overwrote that reaches back least.
  bool IsOfShortest(const Finding& finding) const {
    return shortest_ && finding.rule->id == "buffer.overwritten" &&
           finding.where.text == BufferName(examined_.subject.facts, *shortest_);
  }
  /// Returns the finding of severity info that answers what is missing in a trace: nullptr: none.
  const Finding* NotedFinding() const {
    if (!examined_.trace) return nullptr;
    for (const Finding& finding : examined_.findings) {
      const std::string_view id = finding.rule->id;
      if (id == "buffer.overwritten" && shortest_ && !IsOfShortest(finding)) continue;
      if (id == "buffer.overwritten" || (id == "trace.short" && finding.weight > 0) ||
          id.starts_with("ftrace.") || id.starts_with("order.") || id == "heap.profile" ||
          id.starts_with("perf."))
        return &finding;
    }
    return nullptr;
  }
  /// What a trace without buffers has.
  Sentence HeldText() const {
    const TraceFacts& facts = *examined_.trace;
    const auto sequences = static_cast<uint64_t>(
        std::ranges::count_if(facts.sequences, &TraceSequence::is_of_producer));
    Sentence text = Say("{} of {}, with {}", Number("packets", answer_.packets, "packet"),
                        Number("sequences", sequences, "sequence"),
                        facts.all.span ? Number("events", facts.events, "event") : "no event");
    if (facts.all.span) text += Say(" in {}", Time("events_ns", facts.all.span->length_ns()));
    return text;
  }
  /// Data sources that delivered nothing, beside the headline.
  void AddSources() {
    std::vector<std::string> silent;
    for (const SourceAccount& source : examined_.sources)
      if (source.state != SourceState::kDelivered && source.state != SourceState::kEndedEarly &&
          source.state != SourceState::kUnknown)
        silent.push_back(fmt::format("{} ({})", Printable(source.name), RowOf(source.state).text));
    const bool is_headline = answer_.severity == Harm::kWarning &&
                             examined_.findings.front().rule->id == "source.silent";
    if (silent.size() <= (is_headline ? 1 : 0)) return;
    answer_.Add("Without", ShortList(silent, "further data source"));
    std::erase_if(others_,
                  [](const Finding* finding) { return finding->rule->id == "source.silent"; });
  }

  /// @param noted the finding that it is of, if none is a warning; nullptr: there is none
  Sentence ProvedHeadline(const Finding* noted) const {
    const std::vector<Finding>& findings = examined_.findings;
    if (noted != nullptr && noted->rule->id == "buffer.overwritten")
      if (const Sentence left = LeftText(examined_, shortest_); !left.empty())
        return Say("{}.", left);
    if (noted != nullptr) return StandaloneText(*noted);
    if (answer_.severity > Harm::kInfo) {
      if (findings.front().rule->id != "state.unusable" ||
          (examined_.trace && examined_.trace->IsOfTool()))
        return StandaloneText(findings.front());
      return UnusableHeadline(shortest_);
    }
    if (!examined_.trace)
      return findings.empty() ? "No rule finds a problem in this config."
                              : "Nothing in this config is wrong, but it can be better.";
    if (examined_.trace->IsOfTool())
      return "Nothing is wrong with this trace. A tool wrote the file without Perfetto's service, "
             "so that no buffer could lose anything.";
    return examined_.trace->stats_packets > 0
               ? "Nothing is wrong with this trace, by its packets and the service's statistics."
               : "Nothing is wrong with what is there, but the trace does not show what was lost.";
  }

  /// A finding that is worse than the losses of a log becomes the headline, and the severity its.
  void AddWorst() {
    const Finding* worst = nullptr;
    for (const Finding& finding : examined_.findings) {
      const std::string_view id = finding.rule->id;
      const bool is_of_losses = IsOfLosses(finding) || id == "buffer.writer_loss";
      const bool is_stated = (is_of_losses && finding.harm <= answer_.severity) ||
                             (id == "trace.empty" && losses_->any());
      if (finding.harm <= Harm::kInfo || is_stated) continue;
      if (worst == nullptr && finding.harm > answer_.severity)
        worst = &finding;
      else
        others_.push_back(&finding);
    }
    if (worst == nullptr) return;
    answer_.lines.insert(answer_.lines.begin(), {"Losses", std::move(answer_.headline)});
    answer_.severity = worst->harm;
    answer_.headline = answer_.Keep(StandaloneText(*worst));
    const Sentence change = ChangeOf(*worst, {*worst});
    if (change.empty())
      answer_.Add("Change", std::move(answer_.change));
    else if (!answer_.change.empty())
      ++answer_.more_changes;
    answer_.change = answer_.Keep(change);
  }

  /// "LEFT, and the names of the events were lost: the UI can show 2 of 4,912 packets."
  /// @param buffer whose reach shows what is left
  Sentence UnusableHeadline(std::optional<uint32_t> buffer) const {
    const Sentence left = LeftText(examined_, buffer);
    return Say("{}{} names of the events were lost: the UI can show {} of {}.", left,
               left.empty() ? "The" : ", and the", Number("usable", answer_.usable),
               Number("packets", answer_.packets, "packet"));
  }

  /// The finding's sentence, with the buffer where there are several.
  Sentence StandaloneText(const Finding& finding) const {
    const std::string buffer = finding.where.text.substr(0, finding.where.text.find(';'));
    if (!examined_.trace || examined_.trace->buffers.size() < 2 || !buffer.starts_with("buffers["))
      return finding.what;
    return Say("{}: {}", buffer, finding.what);
  }

  /// Whose packets take most of the trace.
  Sentence LargestText() const {
    SharesOf shares;  // bytes
    for (const SequenceStages& sequence : examined_.account.sequences)
      if (sequence[Stage::kLeft].count.bytes > 0)
        shares.emplace_back(NameOf(sequence), sequence[Stage::kLeft].count.bytes);
    std::ranges::stable_sort(shares, std::ranges::greater(), &SharesOf::value_type::second);
    return Say("{}, of the bytes in the trace",
               Shares("largest", shares, stages_[Stage::kLeft].count.bytes, 2));
  }

  /// The lines of the config that help most against what the headline names; empty: it has none.
  /// @param findings the headline's and others
  Sentence ChangeOf(const Finding& headline, const std::vector<Finding>& findings) const {
    std::vector<ConfigChange> changes;
    for (const Finding& finding : findings)
      // Of a rule with several remedies, only those of the same are against the headline.
      if ((finding.rule == headline.rule && (finding.remedy.text == headline.remedy.text ||
                                             finding.rule->id.starts_with("config."))) ||
          (IsOfLosses(finding) && IsOfLosses(headline)))
        for (const ConfigChange& change : finding.changes)
          if (!Contains(changes, change.path, &ConfigChange::path)) changes.push_back(change);
    return ChangesText(changes, examined_.subject.sizes);
  }

  /// "buffers[0].size_kb 256 -> 6544, which keeps everything": the changes that go together.
  Sentence ChangeOfReplays() {
    const RemedyList& list = examined_.remedies;
    answer_.more_changes =
        static_cast<uint64_t>(std::ranges::count_if(list.remedies, [&](const Remedy& remedy) {
          return std::search(list.changes.begin(), list.changes.end(), remedy.changes.begin(),
                             remedy.changes.end()) == list.changes.end();
        }));
    Sentence text = ChangesText(list.changes, examined_.subject.sizes);
    if (text.empty() || !list.together) return text;
    const auto shorter = std::ranges::find_if(list.remedies, [](const Remedy& remedy) {
      return remedy.is_alternative && remedy.keep_ns();
    });
    text += Say(", which {}", OutcomeText(*list.together, list.now));
    if (shorter == list.remedies.end()) return text;
    const bool is_tried = shorter->reach_ns.has_value();
    const ConfigChange& size = shorter->changes.front();
    const bool is_of_same = list.changes.size() == 1 && list.changes.front().path == size.path;
    text += Say("; {}{} {} {}{}", is_of_same ? "" : size.path + ": ", size.value,
                is_tried ? "keeps the last" : "for",
                Time("shorter_reach_ns", is_tried ? *shorter->reach_ns : *shorter->keep_ns()),
                is_tried ? "" : " at this rate (an estimate)");
    AddFigures(text.figures, Number("shorter_size_kb", shorter->size / 1024));
    return text;
  }

  const Examination& examined_;
  const StageAccount& stages_;
  const LogLosses* const losses_;     // nullptr: of a trace or a config alone
  std::optional<uint32_t> shortest_;  // the ring that reaches back least; absent: none is known
  std::vector<const Finding*> others_;
  Answer answer_;
};

}  // namespace

bool Answer::has_change() const {
  return !change.empty() || more_changes > 0 || Contains(lines, "Change", &AnswerLine::label);
}

Answer AnswerOf(const Examination& examination, const LogLosses* losses) {
  return AnswerBuilder(examination, losses).Build();
}

}  // namespace ringscope
