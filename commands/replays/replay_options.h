#ifndef RINGSCOPE_COMMANDS_REPLAYS_REPLAY_OPTIONS_H_
#define RINGSCOPE_COMMANDS_REPLAYS_REPLAY_OPTIONS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/replays/session_reader.h"
#include "commands/shell/cli_fwd.h"
#include "commands/shell/options.h"
#include "commands/shell/values.h"
#include "core/base/text.h"
#include "core/log/added_buffers.h"
#include "core/log/retarget.h"
#include "core/session/replay.h"

namespace ringscope {

/// The choices about a replay, of all commands that replay.
struct ReplayChoices : ReplayOptions {
  std::vector<RetargetRule> splits;  // sequences in other buffers than in the log
  std::string config;  // with the buffers of a log that lacks them, as text; empty: none
  /// Names of fields in it, and in packets where a command writes these; empty: the built-in ones.
  std::string descriptor = {};
};

/// Names of the replay options, for a command that has them more than once.
struct ReplayOptionNames {
  std::string engine = "--engine";
  std::string prefix = "--";         // of all others
  std::string group = kReplayGroup;  // their heading
  bool config = true;  // with --config and --descriptor, which are of the log, not of a side
};

/// The description of --config in all commands that replay.
inline constexpr const char* kConfigOfUnrecorded =
    "The session's trace config as text (.pbtxt), for a log that lacks its buffers, as it was "
    "recorded without the consumer";
/// Adds --engine, --size, --policy, --reads, --pass-bytes, --config, --descriptor.
void AddReplayOptions(CLI::App& app, ReplayChoices& choices, const ReplayOptionNames& names = {});
/// Adds --split.
void AddSplitOption(CLI::App& app, std::vector<RetargetRule>& splits);
/// The buffers that the log may lack, as chosen.
Result<UnrecordedBuffers> UnrecordedOf(Context& context, const ReplayChoices& choices);
/// The ids of buffers, as text: "0, 1".
template <typename Buffer>
std::string IdsText(const std::vector<Buffer>& buffers) {
  std::vector<std::string> ids;
  for (const Buffer& buffer : buffers) ids.push_back(std::to_string(Raw(buffer.id)));
  return Joined(ids);
}
/// Warns of rules that moved nothing.
void WarnOfUnusedSplits(Console& console, const std::string& path,
                        const std::vector<RetargetRule>& unused);

/// The clone that the reader of a session selects, if any, with the buffers that `splits` makes.
std::optional<CloneView> CloneOf(const SessionReader& sessions,
                                 const std::vector<RetargetRule>& splits);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_REPLAY_OPTIONS_H_
