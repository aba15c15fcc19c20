#include "core/trace/stage_account.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/trace/packet_view.h"

namespace ringscope {
namespace {

void AddTo(StageCount& sum, const StageCount& more) {
  sum = {sum.count += more.count, sum.places + more.places, sum.chunks + more.chunks,
         sum.is_known && more.is_known};
}

}  // namespace

StageAccount& StageAccount::operator+=(const StageAccount& other) {
  for (size_t i = 0; i < kStages; ++i) AddTo((*this)[i], other[i]);
  unusable += other.unusable;
  return *this;
}

std::optional<PacketCount> StageAccount::written() const {
  PacketCount sum;
  for (size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (stage == Stage::kKernel || stage == Stage::kImport) continue;
    if (!(*this)[stage].is_known) return std::nullopt;
    sum += (*this)[stage].count;
  }
  return sum;
}

void StageAccounts::Sum() {
  for (const SequenceStages& sequence : sequences) {
    all += sequence;
    processes[sequence.process] += sequence;
    if (!sequence.buffer.empty()) buffers[sequence.buffer] += sequence;
    if (!sequence.source.empty()) sources[sequence.source] += sequence;
  }
}

std::string NameOf(const SequenceStages& sequence, bool below_process) {
  const StageProcess& process = sequence.process;
  std::string writer = below_process ? sequence.thread : process.name;
  if (writer.empty() && !below_process && sequence.writer.empty()) {
    // A process of many data sources, as traced_probes, is better known by the one of the sequence.
    const KnownSource* const source = FindKnownSource(sequence.source);
    if (source != nullptr && *source->producer != '\0' && sequence.thread.empty())
      writer = sequence.source;
    else if (process.pid > 0)
      writer = fmt::format("pid {}", process.pid);
  }
  if (!sequence.thread.empty() && sequence.thread != writer)
    writer = writer.empty() ? "thread " + sequence.thread : writer + "/" + sequence.thread;
  std::vector<std::string> parts;
  if (!writer.empty()) parts.push_back(std::move(writer));
  if (process.machine > 0 && !below_process)
    parts.push_back(fmt::format("machine {}", process.machine));
  const bool has_id = sequence.id != 0 || sequence.writer.empty();
  if (has_id && !sequence.writer.empty()) parts.push_back(sequence.writer);
  return (has_id ? fmt::format("sequence {}", sequence.id) : "writer " + sequence.writer) +
         (parts.empty() ? "" : " (" + Joined(parts) + ")");
}

StageCount KernelLosses(const FtraceCounters& counters) {
  StageCount sum;
  for (const auto& [number, cpu] : counters.cpus()) {
    const std::optional<uint64_t> overrun = cpu[FtraceCounter::kOverrun].delta();
    if (!overrun) sum.places += cpu.bundles_after_loss;
    // Without a bundle after a loss, nobody would have read what was overwritten.
    if (cpu.bundles_after_loss > 0) sum.count.packets += overrun.value_or(0);
    for (const FtraceCounter each : {FtraceCounter::kCommitOverrun, FtraceCounter::kDroppedEvents})
      sum.count.packets += cpu[each].delta().value_or(0);
  }
  return sum;
}

std::string StagesText(const StageAccounts& accounts) {
  const std::optional<PacketCount> written = accounts.all.written();
  std::vector<std::string> known, unknown;
  const auto add = [&](Stage stage, const StageCount& at, const std::string& where) {
    const bool is_of_events = stage == Stage::kKernel || stage == Stage::kImport;
    // What a writer had not finished did not get out of its memory, and is not all lost.
    const char* const how = stage == Stage::kSharedMemory ? "unfinished"
                            : stage == Stage::kElsewhere  ? ""
                                                          : "lost";
    if (at.count.packets > 0 && at.is_known)
      known.push_back(fmt::format(
          "{} {}{}{}{}",
          is_of_events ? Count(at.count.packets, "event") : WithCommas(at.count.packets), how,
          *how == '\0' ? "" : " ", where,
          written && stage == Stage::kBuffer
              ? fmt::format(" ({})", Percent(at.count.packets, written->packets))
              : ""));
    else if (at.count.bytes > 0)
      known.push_back(fmt::format("{} lost {}", HumanSize(at.count.bytes), where));
    if (at.chunks > 0)
      known.push_back(fmt::format("{} refused {}", Count(at.chunks, "chunk"), where));
    if (at.places > 0)
      known.push_back(fmt::format("{} {} {}at {}", is_of_events ? "events" : "packets",
                                  stage == Stage::kSharedMemory ? "dropped" : "missing",
                                  stage == Stage::kUnknown ? "" : where + " ",
                                  Count(at.places, "place")));
    if (!at.is_known && at == StageCount{.is_known = false} && !is_of_events)
      unknown.push_back(where);
    if (!written && stage == Stage::kBuffer && at == StageCount())
      known.push_back("nothing lost " + where);
  };
  for (const auto& [stage, name, place] : kEnumRows<Stage>) {
    if (stage == Stage::kLeft) continue;
    if (stage == Stage::kBuffer && !accounts.buffers.empty())
      for (const auto& [buffer, account] : accounts.buffers)
        add(stage, account[stage], "in " + buffer);
    else
      add(stage, accounts.all[stage], place);
  }
  const uint64_t left = accounts.all[Stage::kLeft].count.packets, unusable = accounts.all.unusable;
  return fmt::format(
      "{}{}{}{} in the trace{}{}",
      written
          ? fmt::format("{} {} written: ", Count(written->packets, "packet"), Was(written->packets))
          : "",
      Joined(known), known.empty() ? "" : "; ", written ? WithCommas(left) : Count(left, "packet"),
      unusable == 0
          ? ""
          : fmt::format(", {} of them usable", WithCommas(left - std::min(left, unusable))),
      unknown.empty() ? "" : "; a trace does not show losses " + Joined(unknown));
}

}  // namespace ringscope
