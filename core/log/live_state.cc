#include "core/log/live_state.h"

#include "core/base/wire.h"
#include "core/log/summary.h"

namespace ringscope {
bool HeldPatches::DropUnfinished(const Commit& commit) {
  const auto held = held_.find(commit.producer);
  if (held == held_.end() || held->second.number == commit.number) return false;
  held_.erase(held);
  return true;
}

bool HeldPatches::Hold(const Commit& commit, std::span<const ChunkToPatch> patches) {
  if (patches.empty()) return true;
  Request& request = held_[commit.producer];
  request.number = commit.number;
  CommitRequestBuilder builder(request.patches);
  for (const ChunkToPatch& patch : patches) builder.AddPatch(patch);
  if (request.patches.size() <= kMaxBytes) return true;
  held_.erase(commit.producer);
  return false;
}

std::span<const ChunkToPatch> HeldPatches::Take(ProducerId producer) {
  auto held = held_.extract(producer);
  if (held.empty()) return {};
  taken_ = std::move(held.mapped().patches);
  parser_.Parse(wire::AsBytes(taken_));
  return parser_.patches();
}

void LiveState::ForgetSession(uint64_t session) {
  std::erase_if(entries_, [&](const std::pair<const Key, Entry>& entry) {
    return std::get<1>(entry.first) == session &&
           entry.second.body.Is<SessionStarted, TraceConfigRecord, SessionChanged>();
  });
}

void LiveState::ForgetBuffer(BufferId buffer) {
  entries_.erase({OpKindOf<BufferSetUp>(), 0, Raw(buffer), {}});
  std::erase_if(entries_, [&](const auto& entry) {
    const auto* source = std::get_if<DataSourceSetUp>(&entry.second.body);
    return source != nullptr && source->target_buffer == buffer;
  });
  // Removes records about the instances of these sources.
  std::erase_if(entries_, [&](const std::pair<const Key, Entry>& entry) {
    const auto& [kind, owner, number, name] = entry.first;
    return entry.second.body.Is<DataSourceStarted, DataSourceStopped, DataSourceNotified>() &&
           !entries_.contains({OpKindOf<DataSourceSetUp>(), owner, number, std::string()});
  });
}

void LiveState::Add(const OpBody& body) {
  if (std::holds_alternative<Commit>(body)) return;
  const auto keep = [&](uint64_t owner, uint64_t number = 0, std::string name = {}) {
    entries_[{body.index(), owner, number, std::move(name)}] = {order_++, body};
  };
  const auto keep_of_instance = [&](const auto& r) { keep(Raw(r.producer), r.instance); };
  VisitRecord(
      body, [&](const SessionStarted& r) { keep(r.session); },
      [&](const SessionEnded& r) { ForgetSession(r.session); },
      [&](const SessionChanged& r) {
        const uint64_t session = r.session.value_or(0);
        if (r.change == SessionChange::kRefused) return ForgetSession(session);
        const bool is_state = r.change != SessionChange::kFlushCalled &&
                              r.change != SessionChange::kFlushSucceeded &&
                              r.change != SessionChange::kFlushFailed;
        if (is_state) keep(session, static_cast<uint64_t>(r.change));
      },
      [&](const TraceConfigRecord& r) { keep(r.session.value_or(0)); },
      [&](const BufferSetUp& r) { keep(0, Raw(r.id)); },
      [&](const BufferFreed& r) { ForgetBuffer(r.id); },
      [&](const ClockSnapshotRecord&) { keep(0); },
      [&](const ProducerConnected& r) { keep(Raw(r.producer)); },
      [&](const SharedMemorySetUp& r) { keep(Raw(r.producer)); },
      [&](const ProducerDisconnected& gone) {
        const auto is_of_it = [&](const auto& record) {
          if constexpr (requires { record.producer; }) return record.producer == gone.producer;
          return false;
        };
        std::erase_if(entries_,
                      [&](const auto& entry) { return std::visit(is_of_it, entry.second.body); });
      },
      [&](const DataSourceRegistered& r) { keep(Raw(r.producer), 0, r.name); },
      [&](const DataSourceUnregistered& r) {
        entries_.erase({OpKindOf<DataSourceRegistered>(), Raw(r.producer), 0, r.name});
      },
      [&](const DataSourceSetUp& r) { keep_of_instance(r); },
      [&](const DataSourceStarted& r) { keep_of_instance(r); },
      [&](const DataSourceStopped& r) { keep_of_instance(r); },
      [&](const DataSourceNotified& r) { keep_of_instance(r); },
      [&](const WriterRegistered& r) { keep(Raw(r.producer), Raw(r.writer)); },
      [&](const WriterUnregistered& r) {
        entries_.erase({OpKindOf<WriterRegistered>(), Raw(r.producer), Raw(r.writer), {}});
      });
}

std::vector<OpBody> LiveState::Records() const {
  std::map<uint64_t, const OpBody*> in_order;
  for (const auto& [key, entry] : entries_) in_order[entry.order] = &entry.body;
  std::vector<OpBody> records;
  for (const auto& [order, body] : in_order) records.push_back(*body);
  return records;
}

}  // namespace ringscope
