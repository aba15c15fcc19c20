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

template <typename Record>
void LiveState::Keep(uint64_t owner, uint64_t number, const Record& record, std::string name) {
  Entry& entry = entries_[{OpKindOf<Record>(), owner, number, std::move(name)}];
  entry.order = order_++;
  entry.body = record;
}

template <typename Record>
void LiveState::Forget(uint64_t owner, uint64_t number, const std::string& name) {
  entries_.erase({OpKindOf<Record>(), owner, number, name});
}

void LiveState::ForgetSession(uint64_t session) {
  Forget<SessionStarted>(session, 0);
  Forget<TraceConfigRecord>(session, 0);
  for (size_t change = 0; change < kEnumNames<SessionChange>.size(); ++change)
    Forget<SessionChanged>(session, change);
}

void LiveState::ForgetBuffer(BufferId buffer) {
  Forget<BufferSetUp>(0, Raw(buffer));
  std::erase_if(entries_, [&](const auto& entry) {
    const auto* source = std::get_if<DataSourceSetUp>(&entry.second.body);
    return source != nullptr && source->target_buffer == buffer;
  });
  // Removes records about the instances of these sources.
  std::erase_if(entries_, [&](const auto& entry) {
    const auto& [kind, owner, number, name] = entry.first;
    const bool is_of_instance = kind == OpKindOf<DataSourceStarted>() ||
                                kind == OpKindOf<DataSourceStopped>() ||
                                kind == OpKindOf<DataSourceNotified>();
    return is_of_instance &&
           !entries_.contains({OpKindOf<DataSourceSetUp>(), owner, number, std::string()});
  });
}

void LiveState::Add(const OpBody& body) {
  if (std::holds_alternative<Commit>(body)) return;
  const auto keep_of_instance = [&](const auto& r) { Keep(Raw(r.producer), r.instance, r); };
  std::visit(Overloaded{
                 [&](const SessionStarted& r) { Keep(r.session, 0, r); },
                 [&](const SessionEnded& r) { ForgetSession(r.session); },
                 [&](const SessionChanged& r) {
                   const uint64_t session = r.session.value_or(0);
                   if (r.change == SessionChange::kRefused) return ForgetSession(session);
                   const bool is_state = r.change != SessionChange::kFlushCalled &&
                                         r.change != SessionChange::kFlushSucceeded &&
                                         r.change != SessionChange::kFlushFailed;
                   if (is_state) Keep(session, static_cast<uint64_t>(r.change), r);
                 },
                 [&](const TraceConfigRecord& r) { Keep(r.session.value_or(0), 0, r); },
                 [&](const BufferSetUp& r) { Keep(0, Raw(r.id), r); },
                 [&](const BufferFreed& r) { ForgetBuffer(r.id); },
                 [&](const ClockSnapshotRecord& r) { Keep(0, 0, r); },
                 [&](const ProducerConnected& r) { Keep(Raw(r.producer), 0, r); },
                 [&](const SharedMemorySetUp& r) { Keep(Raw(r.producer), 0, r); },
                 [&](const ProducerDisconnected& gone) {
                   const auto is_of_it = [&](const auto& record) {
                     if constexpr (requires { record.producer; })
                       return record.producer == gone.producer;
                     return false;
                   };
                   std::erase_if(entries_, [&](const auto& entry) {
                     return std::visit(is_of_it, entry.second.body);
                   });
                 },
                 [&](const DataSourceRegistered& r) { Keep(Raw(r.producer), 0, r, r.name); },
                 [&](const DataSourceUnregistered& r) {
                   Forget<DataSourceRegistered>(Raw(r.producer), 0, r.name);
                 },
                 [&](const DataSourceSetUp& r) { keep_of_instance(r); },
                 [&](const DataSourceStarted& r) { keep_of_instance(r); },
                 [&](const DataSourceStopped& r) { keep_of_instance(r); },
                 [&](const DataSourceNotified& r) { keep_of_instance(r); },
                 [&](const WriterRegistered& r) { Keep(Raw(r.producer), Raw(r.writer), r); },
                 [&](const WriterUnregistered& r) {
                   Forget<WriterRegistered>(Raw(r.producer), Raw(r.writer));
                 },
                 [](const auto&) {},
             },
             body);
}

std::vector<OpBody> LiveState::Records() const {
  std::map<uint64_t, const OpBody*> in_order;
  for (const auto& [key, entry] : entries_) in_order[entry.order] = &entry.body;
  std::vector<OpBody> records;
  for (const auto& [order, body] : in_order) records.push_back(*body);
  return records;
}

}  // namespace ringscope
