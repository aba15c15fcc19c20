#ifndef RINGSCOPE_COMMANDS_COMPARE_DIFF_PACKETS_H_
#define RINGSCOPE_COMMANDS_COMPARE_DIFF_PACKETS_H_

#include <optional>
#include <string>

#include "commands/compare/diff_words.h"
#include "commands/view/json.h"
#include "commands/view/report.h"

namespace ringscope {

Json ChunkJson(const std::optional<ChunkName>& chunk);

/// A packet, and what became of it on both sides.
Json PacketJson(const PacketDifference& packet, FirstTime first_time_ns);
/// "1:6#3+120: 80 bytes, track_event, written by record 12 at 1.2 s"
std::string PacketText(const PacketDifference& packet, FirstTime first_time_ns);

/// The packets that differ, by the kind of difference.
void ReportPackets(Report& report, const LogDiff& result);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMPARE_DIFF_PACKETS_H_
