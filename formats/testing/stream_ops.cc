#include "formats/testing/stream_ops.h"

#include <algorithm>

#include "formats/inputs/open_log.h"
#include "formats/io/byte_stream.h"
#include "formats/io/log_source.h"
#include "formats/ops/ops_jsonl.h"

namespace ringscope::testing {
namespace {

/// What is claimed, without what is wrong in this case.
std::string ClaimOf(const std::string& wrong) { return wrong.substr(0, wrong.rfind(": ")); }

}  // namespace

RecordedStream Record(WrittenStream stream, int steps) {
  RecordedStream recorded;
  recorded.traits = stream.traits();
  const auto keep = [&](const StreamStep& step) {
    recorded.steps.push_back(std::make_shared<PlainStep>(step));
  };
  for (int i = 0; i < steps; ++i) keep(stream.Next());
  if (recorded.traits.conduct == Conduct::kCorrect) {
    while (const auto step = stream.NextToFinish()) keep(*step);
    recorded.written = stream.written();
  }
  return recorded;
}

std::string CheckRecorded(const RecordedStream& stream) {
  EngineAgreement agreement(stream.traits, stream.written.empty() ? nullptr : &stream.written);
  for (const auto& recorded : stream.steps) {
    std::string wrong = recorded->With([&](const auto& step) { return agreement.Apply(step); });
    if (!wrong.empty()) return wrong;
  }
  return agreement.Apply({.kind = RandomStream::Kind::kRead});
}

RecordedStream CutDown(RecordedStream stream) {
  const std::string wrong = CheckRecorded(stream);
  if (wrong.empty()) return stream;
  for (size_t part = stream.steps.size(); part > 0; part /= 2) {
    for (size_t at = 0; at < stream.steps.size();) {
      RecordedStream less = stream;
      const auto from = less.steps.begin() + static_cast<ptrdiff_t>(at);
      less.steps.erase(from, from + static_cast<ptrdiff_t>(std::min(part, less.steps.size() - at)));
      if (ClaimOf(CheckRecorded(less)) == ClaimOf(wrong))
        stream = std::move(less);
      else
        at += part;
    }
  }
  return stream;
}

Status WriteOps(const RecordedStream& stream, const std::string& path) {
  RS_ASSIGN_OR_RETURN(const auto file, OutputFile::Create(path, kOpsOutput, Replace::kAny));
  for (const StoredOp& op : ToOps({stream.traits.size, stream.traits.policy, stream.steps}))
    RS_RETURN_IF_ERROR(file->Write(FormatOp(op.op()) + "\n"));
  return file->Commit();
}

Result<RecordedStream> ReadOps(const std::string& path) {
  PlainStream plain;
  RS_ASSIGN_OR_RETURN(const auto log, OpenLog(path));
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, log->Next());
    if (!op) break;
    AddOp(*op, plain);
  }
  RecordedStream stream;
  stream.traits.conduct = Conduct::kHostile;
  stream.traits.size = plain.size;
  stream.traits.policy = plain.policy;
  stream.steps = std::move(plain.steps);
  return stream;
}

}  // namespace ringscope::testing
