#ifndef RINGSCOPE_COMMANDS_RECORD_INSTANCES_H_
#define RINGSCOPE_COMMANDS_RECORD_INSTANCES_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "commands/record/session_buffers.h"
#include "core/base/ids.h"

namespace ringscope {

/// A data source of a producer that takes part in a session.
struct Instance {
  std::optional<SessionBuffers::SessionId> session;
  BufferId target{};
  bool flushes = true;  // is asked to flush: its descriptor has no no_flush
};

/// The instances that are set up and not stopped, of all producers.
class Instances {
 public:
  /// @return whether it is new
  bool Add(ProducerId producer, uint64_t id, const Instance& instance) {
    return all_.emplace(Key{producer, id}, instance).second;
  }
  void Remove(ProducerId producer, uint64_t id) { all_.erase({producer, id}); }
  void RemoveAll(ProducerId producer) {
    std::erase_if(all_, [&](const auto& entry) { return entry.first.first == producer; });
  }
  const Instance* Find(ProducerId producer, uint64_t id) const {
    const auto found = all_.find({producer, id});
    return found == all_.end() ? nullptr : &found->second;
  }
  /// Whether the producer takes part in a session and no flush of that session asks it.
  bool IsLeftOut(ProducerId producer) const {
    std::map<std::optional<SessionBuffers::SessionId>, bool> is_asked;
    for (auto next = all_.lower_bound({producer, 0});
         next != all_.end() && next->first.first == producer; ++next)
      is_asked[next->second.session] |= next->second.flushes;
    return std::ranges::any_of(is_asked, [](const auto& session) { return !session.second; });
  }
  /// The producers that a flush of the data sources of these buffers asks.
  std::set<ProducerId> WhoFlushes(const std::set<BufferId>& targets) const {
    std::set<ProducerId> producers;
    for (const auto& [key, instance] : all_)
      if (instance.flushes && targets.contains(instance.target)) producers.insert(key.first);
    return producers;
  }

 private:
  using Key = std::pair<ProducerId, uint64_t>;
  std::map<Key, Instance> all_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_INSTANCES_H_
