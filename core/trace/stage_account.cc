#include "core/trace/stage_account.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/trace/packet_view.h"

namespace ringscope {
StageAccount& StageAccount::operator+=(const StageAccount& other) {
  for (size_t i = 0; i < kStages; ++i) {
    StageCount& sum = (*this)[i];
    const StageCount& more = other[i];
    sum = {sum.count += more.count, sum.places + more.places, sum.chunks + more.chunks,
           sum.is_known && more.is_known, sum.is_estimate || more.is_estimate};
  }
  unusable += other.unusable;
  waiting += other.waiting;
  return *this;
}

std::optional<PacketCount> StageAccount::written() const {
  PacketCount sum;
  for (const StageRow& row : kEnumRows<Stage>) {
    if (row.value == Stage::kKernel || row.value == Stage::kImport) continue;
    if (!(*this)[row.value].is_known) return std::nullopt;
    sum += (*this)[row.value].count;
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
  const bool is_one = accounts.buffers.size() == 1 && accounts.all[Stage::kUnknown] == StageCount();
  const auto add = [&](const StageRow& row, const StageAccount& account,
                       const std::string& buffer) {
    const Stage stage = row.value;
    const StageCount& at = account[stage];
    const bool is_of_events = stage == Stage::kKernel || stage == Stage::kImport;
    const uint64_t waiting = stage == Stage::kBuffer ? account.waiting : 0;
    const uint64_t packets = at.count.packets - waiting;
    const std::string where = buffer.empty() ? row.place : "in " + buffer;
    const std::string subject = buffer.empty() ? "the buffers" : buffer;
    const size_t before = known.size();
    if ((packets > 0 && at.is_known) || stage == Stage::kLeft) {
      std::string count = is_of_events   ? Count(packets, "event")
                          : !written     ? Count(packets, "packet")
                          : packets == 0 ? "none"
                                         : WithCommas(packets);
      if (written && stage == Stage::kBuffer)
        count += fmt::format(" ({})", ShareText(packets, written->packets));
      known.push_back(fmt::format(
          fmt::runtime(row.ended), fmt::arg("n", count), fmt::arg("were", Was(packets)),
          fmt::arg("are", count == "none" ? "is" : Is(packets)), fmt::arg("buffer", subject)));
    } else if (at.count.packets == 0 && at.count.bytes > 0) {
      known.push_back(fmt::format("{} overwrote {}{}", subject, at.is_estimate ? "about " : "",
                                  HumanSize(at.count.bytes)));
    }
    if (waiting > 0)
      known.push_back(
          fmt::format("{} {} still in {}, not read", WithCommas(waiting), Is(waiting), subject));
    if (at.chunks > 0)
      known.push_back(
          stage == Stage::kBuffer
              ? fmt::format("{} refused {}", subject, Count(at.chunks, "chunk"))
              : fmt::format("{} {} refused {}", Count(at.chunks, "chunk"), Was(at.chunks), where));
    if (at.places > 0)
      known.push_back(fmt::format("{} {}{} at {}", is_of_events ? "events" : "packets",
                                  stage == Stage::kSharedMemory ? "were dropped" : "are missing",
                                  stage == Stage::kUnknown                            ? ""
                                  : stage != Stage::kBuffer || known.size() == before ? " " + where
                                  : is_one                                            ? ""
                                                                                      : " there",
                                  Count(at.places, "place")));
    if (!at.is_known && at == StageCount{.is_known = false} && !is_of_events)
      unknown.push_back(where);
    if (!written && stage == Stage::kBuffer && at == StageCount())
      known.push_back(subject + " lost nothing");
  };
  for (const StageRow& row : kEnumRows<Stage>) {
    if (row.value != Stage::kBuffer || accounts.buffers.empty())
      add(row, accounts.all, {});
    else
      for (const auto& [buffer, account] : accounts.buffers) add(row, account, buffer);
  }
  const std::string last = unknown.empty() ? "" : unknown.back();
  if (!unknown.empty()) unknown.pop_back();
  const uint64_t left = accounts.all[Stage::kLeft].count.packets, unusable = accounts.all.unusable;
  return (written ? fmt::format("{} {} written: ", Count(written->packets, "packet"),
                                Was(written->packets))
                  : "") +
         Joined(known, "; ") +
         (unusable == 0
              ? ""
              : fmt::format(", {} of them usable", WithCommas(left - std::min(left, unusable)))) +
         (last.empty() ? ""
                       : ". Traces do not show losses " + Joined(unknown) +
                             (unknown.empty() ? "" : " or ") + last) +
         ".";
}

}  // namespace ringscope
