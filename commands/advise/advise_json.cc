
#include "commands/advise/advise_report.h"
#include "commands/report/json.h"
#include "commands/shell/text.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope {
namespace {

Json ItemJson(const Advice& advice, const AdviceReport& report) {
  Json json;
  json["topic"] = Name(advice.topic);
  json["kind"] = Name(advice.kind);
  json["to_do"] = advice.to_do;
  json["text"] = AdviceText(advice, report);
  if (advice.buffer) json["buffer"] = Raw(*advice.buffer);
  if (advice.producer) json["producer"] = Raw(*advice.producer);
  if (!advice.sequences.empty()) {
    json["sequences"] = Json::array();
    for (const SequenceKey key : advice.sequences) json["sequences"].push_back(ToString(key));
  }
  for (const auto& [name, value] : ListNumbers(advice.numbers)) json["numbers"][name] = value;
  return json;
}

Json SequenceJson(const AdviceSequence& sequence) {
  return {{"sequence", ToString(sequence.sequence)}, {"buffer", Raw(sequence.buffer)},
          {"packets", sequence.written.packets},     {"lost", sequence.lost.packets},
          {"unusable", sequence.unusable},           {"room_bytes", sequence.space_bytes},
          {"first_ns", sequence.first_ns},           {"last_ns", sequence.last_ns},
          {"content", ContentName(sequence.content)}};
}

}  // namespace

Json AdviceJson(const AdviceReport& report) {
  const AdviceFindings& findings = report.findings;
  Json json;
  json["log"] = report.name;
  json["session"] = report.session;
  json["duration_ns"] = report.facts.duration_ns;
  json["is_trace"] = report.facts.is_trace;
  json["recorder_gaps"] = report.facts.recorder_gaps;
  json["wanted"] = {{"keep_ns", findings.wish.keep_ns.value_or(report.facts.duration_ns)},
                    {"memory", findings.wish.memory},
                    {"memory_now", report.facts.TotalSize()},
                    {"extrapolated", findings.extrapolated}};
  json["reads"] = {{"periodic", findings.reads.periodic},
                   {"period_ns", findings.reads.period_ns},
                   {"planned_period_ns", findings.period_ns}};
  json["to_do"] = AnyToDo(report.advice);
  json["advice"] = Json::array();
  for (const Advice& advice : report.advice) json["advice"].push_back(ItemJson(advice, report));
  json["sequences"] = Json::array();
  for (const AdviceSequence& sequence : report.facts.sequences)
    json["sequences"].push_back(SequenceJson(sequence));
  json["splits"] = Json::array();
  for (const PlannedSplit& split : findings.splits) {
    Json one = {{"from", Raw(split.from)}, {"to", Raw(split.to)}, {"moved", Json::array()}};
    for (const SequenceKey key : split.chatty) one["moved"].push_back(ToString(key));
    json["splits"].push_back(std::move(one));
  }
  json["config"] = ConfigText(report);
  json["predicted"] = Json::array();
  for (const PredictedBuffer& one : PredictionOf(report)) {
    Json buffer = {{"buffer", Raw(one.id)}};
    if (one.made_from) buffer["made_from"] = Raw(*one.made_from);
    if (one.size_now) buffer["size_now"] = *one.size_now;
    buffer["size_then"] = one.size_then;
    buffer["packets"] = one.written;
    buffer["lost_now"] = one.lost_now;
    buffer["lost_then"] = one.lost_then;
    buffer["history_now_ns"] = one.history_now_ns;
    buffer["history_then_ns"] = one.history_then_ns;
    json["predicted"].push_back(std::move(buffer));
  }
  return json;
}

}  // namespace ringscope
