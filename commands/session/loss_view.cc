#include "commands/session/loss_view.h"

#include <fmt/format.h>

#include "core/examine/loss_words.h"

namespace ringscope {

void ListFields(JsonFieldWriter& io, const CounterRise& rise) {
  io("counter", rise.counter, "count", rise.amount, "reason", rise.reason, "buffer", rise.buffer,
     "sequence", rise.sequence, "chunk", rise.chunk);
  ListFields(io, rise.at);
  io("loss_bits", rise.loss_bits, "text", ReasonText(rise));
}

void WarnOfInexact(Console& console, const std::string& path, const Verdicts& verdicts) {
  if (const std::string text = InexactText(verdicts); !text.empty())
    console.Warn(fmt::format("{}: the recording is not exact: {}", path, text));
}

void AddInexact(Report& report, const Verdicts& verdicts) {
  if (!verdicts.empty()) report.Data("inexact", FieldsToJson(verdicts));
}

void ListFields(JsonFieldWriter& io, const RecordingVerdict& verdict) {
  io("reason", verdict.reason, "times", verdict.times, "session", verdict.session, "detail",
     verdict.detail);
}

}  // namespace ringscope
