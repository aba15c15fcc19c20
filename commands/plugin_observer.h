#ifndef RINGSCOPE_COMMANDS_PLUGIN_OBSERVER_H_
#define RINGSCOPE_COMMANDS_PLUGIN_OBSERVER_H_

#include <string>

#include "core/engine.h"
#include "core/plugin_abi.h"

namespace ringscope {

/// Hands on to an EngineObserver what a plug-in reports. Reports that cannot be, such as one
/// without its chunk, are left out, and the first is kept.
class PluginObserver {
 public:
  /// @param observer not owned
  explicit PluginObserver(EngineObserver& observer);
  PluginObserver(const PluginObserver&) = delete;
  PluginObserver& operator=(const PluginObserver&) = delete;

  /// For ringscope_config; lives as long as this.
  const ringscope_observer* callbacks() const { return &callbacks_; }
  /// What was wrong with the first bad report; empty: none was.
  const std::string& complaint() const { return complaint_; }

 private:
  struct Reports;  // the callbacks

  EngineObserver& observer_;
  ringscope_observer callbacks_{};
  std::string complaint_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PLUGIN_OBSERVER_H_
