#ifndef RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_OBSERVER_H_
#define RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_OBSERVER_H_

#include <string>

#include "core/engine/catalogue.h"
#include "include/ringscope/plugin_abi.h"

namespace ringscope {

/// The input of a plug-in's buffer so far: its reports and packets must fit to it.
struct PluginInput {
  const ChunkCommit* under_way = nullptr;  // the commit that the buffer handles now
  uint64_t commits = 0;                    // all of them
  uint64_t owed_bytes = 0;                 // committed and not returned

  /// Returns true if a packet's chunks follow each other, and were all committed.
  bool CanHold(const PacketPlace& place) const {
    return Distance(place.first_chunk, place.last_chunk) < commits;
  }
};

/// Passes a plug-in's reports on to an EngineObserver. Leaves out reports that cannot be true, such
/// as a discard outside a commit, and keeps the first of these.
class PluginObserver {
 public:
  /// @param observer, input: not owned
  /// @param taken what the plug-in reports in full; the rest of these reports is left out
  PluginObserver(EngineObserver& observer, const PluginInput& input, EngineReports taken);
  PluginObserver(const PluginObserver&) = delete;
  PluginObserver& operator=(const PluginObserver&) = delete;

  /// For ringscope_config; lives as long as this.
  const ringscope_observer* callbacks() const { return &callbacks_; }
  /// What was wrong with the first bad report; empty: none was.
  const std::string& complaint() const { return complaint_; }

 private:
  struct Reports;  // the callbacks

  EngineObserver& observer_;
  const PluginInput& input_;
  const EngineReports taken_;
  ringscope_observer callbacks_{};
  std::string complaint_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_OBSERVER_H_
