#include "core/log/session_index.h"

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringscope {

bool SessionIndexBuilder::Add(Op& op) {
  const bool is_beginning = facts_.commits == 0;
  const auto note_start = [&] {
    if (!is_beginning) return;
    start_.Add(op);
    facts_.start_ns = start_.ns();
  };
  if (const auto* commit = std::get_if<Commit>(&op.body)) {
    note_start();
    ++facts_.commits;
    facts_.commit_bytes += commit->request.size();
    return true;
  }
  verdicts_.Add(op.body);
  if (const auto* started = std::get_if<SessionStarted>(&op.body);
      started != nullptr && started->session == tracing_.value_or(started->session))
    facts_.tracing.push_back(started->session);
  if (filter_ && !filter_->Keeps(op)) return false;
  note_start();
  VisitRecord(
      op.body,
      [&](const TraceConfigRecord& record) {
        if (is_beginning && facts_.config.empty()) facts_.config = record.config;
      },
      [&](const BufferSetUp& setup) {
        facts_.sets_up_buffers |= is_beginning;
        facts_.buffers[setup.id] = {setup.size, setup.policy, setup.index.value_or(set_up_++)};
      },
      [&](const ReadPass& read) {
        if (service_.AnswersNothing(read)) return;
        facts_.has_reads = true;
        // For a file the service reads until nothing is left.
        const bool reads_all = read.reason == ReadReason::kFile && !read.max_packets;
        facts_.has_limited_reads |= !read.buffer && read.max_bytes && !reads_all;
      },
      [&](const DataSourceRegistered& source) {
        facts_.has_programs |= !source.protovm_program.empty();
      },
      [&](const ProtoVmSetUp&) { facts_.has_programs = true; });
  clones_.Add(op);
  service_.Take(op, op.time_ns);
  facts_.streams |= service_.streams();
  return true;
}

std::vector<RecordingVerdict> SessionIndexBuilder::Verdicts() const {
  std::vector<RecordingVerdict> verdicts = verdicts_.Verdicts();
  std::erase_if(verdicts, [&](const RecordingVerdict& verdict) {
    return tracing_ && verdict.session && verdict.session != tracing_;
  });
  return verdicts;
}

Result<SessionIndex> IndexSession(OpSource& ops) {
  SessionIndexBuilder builder;
  while (true) {
    RS_ASSIGN_OR_RETURN(std::optional<Op> op, ops.Next());
    if (!op) return builder.Index();
    builder.Add(*op);
  }
}

void CloneScan::Add(const Op& op) {
  VisitRecord(
      op.body,
      [&](const CloneRequested& requested) {
        clones_[requested.clone].session = requested.session;
      },
      [&](const BufferCloned& cloned) { clones_[cloned.clone].buffers.insert(cloned.buffer); },
      [&](const CloneEnded& ended) {
        CloneFacts& clone = clones_[ended.clone];
        clone.failed = !ended.success;
        clone.error = ended.error;
        clone.is_in_file = ended.into_file;
      },
      [&](const ClonePass& pass) { clones_[pass.clone].passes.push_back(pass.max_bytes); });
}

std::vector<CloneFacts> CloneScan::clones() const {
  std::vector<CloneFacts> clones;
  for (const auto& [number, clone] : clones_)
    if (!clone.buffers.empty() || clone.failed) clones.emplace_back(clone).clone = number;
  return clones;
}

Result<CloneFacts> FindMadeClone(const std::vector<CloneFacts>& clones, uint64_t clone) {
  std::vector<std::string> known;
  for (const CloneFacts& facts : clones) {
    if (!facts.failed) known.push_back(std::to_string(facts.clone));
    if (facts.clone != clone) continue;
    if (!facts.failed) return facts;
    return Fail(ErrorCode::kUsage,
                fmt::format("clone {} was not made: the service reported {}", clone,
                            facts.error.empty() ? "an error" : "'" + facts.error + "'"));
  }
  return Fail(ErrorCode::kUsage, fmt::format("there is no clone {}", clone), {},
              known.empty() ? "the log has no clones" : "clones: " + Joined(known));
}

}  // namespace ringscope
