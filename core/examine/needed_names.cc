#include "core/examine/needed_names.h"

#include <algorithm>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope {
namespace {

/// Calls visit(pid, time) for the packed columns of compact events.
/// @param steps of time, each from the event before
template <typename Visit>
void VisitCompact(Bytes steps, Bytes pids, Visit visit) {
  for (uint64_t now = 0; !steps.empty() && !pids.empty();) {
    const wire::Varint step = wire::ReadVarint(steps), pid = wire::ReadVarint(pids);
    if (step.size == 0 || pid.size == 0) return;
    visit(pid.value, now += step.value);
    steps = steps.subspan(step.size);
    pids = pids.subspan(pid.size);
  }
}

}  // namespace

void NeededNames::OnChunkWritten(BufferId, WrittenCommit& written) {
  const std::vector<WrittenFragment>& fragments = written.chunk().fragments;
  for (size_t i = 0; i < fragments.size(); ++i) {
    const FragmentKind kind = fragments[i].kind;
    if (fragments[i].size == 0 || (kind != FragmentKind::kWhole && kind != FragmentKind::kBegin))
      continue;
    const WrittenCommit::PacketBeginning& packet = written.PacketAt(i);
    if (packet.facts.content == proto::TracePacket::kProcessTree) AddTree(packet.content, false);
  }
}

void NeededNames::OnReturned(const PacketAccount& account, const SessionPacket& packet) {
  const uint32_t kind = account.facts.content;
  const bool is_tree = kind == proto::TracePacket::kProcessTree;
  if (!is_tree && (missing_ == 0 || kind != proto::TracePacket::kFtraceEvents)) return;
  Bytes content;
  ReadPacketFacts(Joined(packet.packet->slices, joined_), &content);
  if (is_tree)
    AddTree(content, true);
  else
    AddBundle(content);
}

void NeededNames::AddTree(Bytes tree, bool is_in_trace) {
  for (const wire::Field& field : wire::FieldReader(tree)) {
    const auto number = [&](uint32_t of) {
      return static_cast<int32_t>(wire::NumberIn(field.bytes, of));
    };
    if (field.IsBytes(proto::ProcessTree::kThreads)) {
      process_of_[number(1)] = number(3);
    } else if (field.IsBytes(proto::ProcessTree::kProcesses)) {
      const auto [at, is_new] = processes_.try_emplace(number(1));
      Process& process = at->second;
      if (is_new) {
        ++missing_;
        process.pid = at->first;
        for (const wire::Field& name : wire::FieldReader(field.bytes))
          if (name.IsBytes(3) && process.name.empty()) process.name = wire::AsText(name.bytes);
      }
      if (!is_in_trace || process.is_in_trace) continue;
      process.is_in_trace = true;
      --missing_;
    }
  }
}

void NeededNames::AddBundle(Bytes bundle) {
  constexpr uint32_t kTime = 1, kPid = 2, kNextPid = 6;
  const auto add = [&](uint64_t pid, uint64_t time_ns) { AddEvent(pid, time_ns); };
  wire::ForEachField(bundle, [&](const wire::VisitedField& field) {
    if (field.type != wire::Type::kBytes) return;
    if (field.number == proto::FtraceEventBundle::kCompactSched) {
      const auto column = [&](uint32_t number) { return wire::BytesIn(field.bytes, number); };
      VisitCompact(column(1), column(3), add);
      VisitCompact(column(7), column(8), add);
    }
    if (field.number != proto::FtraceEventBundle::kEvent) return;
    uint64_t time_ns = 0;
    wire::ForEachField(field.bytes, [&](const wire::VisitedField& part) {
      if (part.number == kTime) time_ns = part.value;
      if (part.number == kPid) add(part.value, time_ns);
      const bool is_switch = part.number == proto::FtraceEvent::kSchedSwitch;
      const bool has_pid = is_switch || part.number == proto::FtraceEvent::kSchedWakeup ||
                           part.number == proto::FtraceEvent::kSchedWaking;
      if (!has_pid || part.type != wire::Type::kBytes) return;
      wire::ForEachField(part.bytes, [&](const wire::VisitedField& of) {
        if (of.number == kPid || (is_switch && of.number == kNextPid)) add(of.value, time_ns);
      });
    });
  });
}

void NeededNames::AddEvent(uint64_t pid, uint64_t time_ns) {
  if (pid == 0 || time_ns == 0) return;
  const auto thread = process_of_.find(static_cast<int32_t>(pid));
  const auto found =
      processes_.find(thread == process_of_.end() ? static_cast<int32_t>(pid) : thread->second);
  if (found == processes_.end()) return;
  Process& process = found->second;
  process.first_ns = std::min(process.first_ns, time_ns);
  process.last_ns = std::max(process.last_ns, time_ns);
}

std::vector<NeededProcess> NeededNames::Result() const {
  std::vector<NeededProcess> needed;
  for (const auto& [pid, process] : processes_)
    if (!process.is_in_trace && process.last_ns > 0) needed.push_back(process);
  std::ranges::stable_sort(needed, std::ranges::greater(), [](const NeededProcess& process) {
    return process.last_ns - process.first_ns;
  });
  return needed;
}

}  // namespace ringscope
