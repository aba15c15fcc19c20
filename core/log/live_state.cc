#include "core/log/live_state.h"

#include <algorithm>

#include "core/log/life_event.h"

namespace ringscope {
namespace {

/// The session that a record names; the only one of its log if it names none.
uint64_t SessionOr0(const std::optional<uint64_t>& session) { return session.value_or(0); }

bool IsProducers(const OpBody& body, ProducerId producer) {
  const auto is = [&](const auto& record) {
    if constexpr (requires { requires std::same_as<decltype(record.producer), ProducerId>; })
      return record.producer == producer;
    else
      return false;
  };
  return std::visit(is, body);
}

}  // namespace

bool LiveState::Concerns(const OpBody& body) {
  const auto is_one_of = [&]<typename... Kinds>(std::tuple<Kinds...>*) {
    return (std::holds_alternative<Kinds>(body) || ...);
  };
  using Kinds =
      std::tuple<SessionStarted, SessionEnded, SessionChanged, TraceConfigRecord, BufferSetUp,
                 BufferFreed, ClockSnapshotRecord, ProducerConnected, SharedMemorySetUp,
                 ProducerDisconnected, DataSourceRegistered, DataSourceUnregistered,
                 DataSourceSetUp, DataSourceStarted, DataSourceStopped, DataSourceNotified,
                 WriterRegistered, WriterUnregistered>;
  return is_one_of(static_cast<Kinds*>(nullptr));
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

void LiveState::ForgetProducer(ProducerId producer) {
  std::erase_if(entries_,
                [&](const auto& entry) { return IsProducers(entry.second.body, producer); });
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
  // What happened to the instances of these sources.
  std::erase_if(entries_, [&](const auto& entry) {
    const size_t kind = std::get<0>(entry.first);
    const bool is_of_instance = kind == OpKindOf<DataSourceStarted>() ||
                                kind == OpKindOf<DataSourceStopped>() ||
                                kind == OpKindOf<DataSourceNotified>();
    return is_of_instance &&
           !entries_.contains({OpKindOf<DataSourceSetUp>(), std::get<1>(entry.first),
                               std::get<2>(entry.first), std::string()});
  });
}

void LiveState::Add(const OpBody& body) {
  std::visit(Overloaded{
                 [&](const SessionStarted& r) { Keep(r.session, 0, r); },
                 [&](const SessionEnded& r) { ForgetSession(r.session); },
                 [&](const SessionChanged& r) {
                   if (r.change == SessionChange::kRefused)
                     return ForgetSession(SessionOr0(r.session));
                   const bool is_state = r.change != SessionChange::kFlushCalled &&
                                         r.change != SessionChange::kFlushSucceeded &&
                                         r.change != SessionChange::kFlushFailed;
                   if (is_state) Keep(SessionOr0(r.session), static_cast<uint64_t>(r.change), r);
                 },
                 [&](const TraceConfigRecord& r) { Keep(SessionOr0(r.session), 0, r); },
                 [&](const BufferSetUp& r) { Keep(0, Raw(r.id), r); },
                 [&](const BufferFreed& r) { ForgetBuffer(r.id); },
                 [&](const ClockSnapshotRecord& r) { Keep(0, 0, r); },
                 [&](const ProducerConnected& r) { Keep(Raw(r.producer), 0, r); },
                 [&](const SharedMemorySetUp& r) { Keep(Raw(r.producer), 0, r); },
                 [&](const ProducerDisconnected& r) { ForgetProducer(r.producer); },
                 [&](const DataSourceRegistered& r) { Keep(Raw(r.producer), 0, r, r.name); },
                 [&](const DataSourceUnregistered& r) {
                   Forget<DataSourceRegistered>(Raw(r.producer), 0, r.name);
                 },
                 [&](const DataSourceSetUp& r) { Keep(Raw(r.producer), r.instance, r); },
                 [&](const DataSourceStarted& r) { Keep(Raw(r.producer), r.instance, r); },
                 [&](const DataSourceStopped& r) { Keep(Raw(r.producer), r.instance, r); },
                 [&](const DataSourceNotified& r) { Keep(Raw(r.producer), r.instance, r); },
                 [&](const WriterRegistered& r) { Keep(Raw(r.producer), Raw(r.writer), r); },
                 [&](const WriterUnregistered& r) {
                   Forget<WriterRegistered>(Raw(r.producer), Raw(r.writer));
                 },
                 [](const auto&) {},
             },
             body);
}

std::vector<OpBody> LiveState::Records() const {
  std::vector<const Entry*> in_order;
  for (const auto& [key, entry] : entries_) in_order.push_back(&entry);
  std::ranges::sort(in_order, {}, &Entry::order);
  std::vector<OpBody> records;
  for (const Entry* entry : in_order) records.push_back(entry->body);
  return records;
}

}  // namespace ringscope
