#ifndef RINGSCOPE_COMMANDS_COMPARE_DIFF_WORDS_H_
#define RINGSCOPE_COMMANDS_COMPARE_DIFF_WORDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "core/compare/log_diff.h"
#include "core/log/op.h"

namespace ringscope {

// The words that all reports of differences use.

using FirstTime = std::optional<uint64_t>;  // nanoseconds, of the session's first record

/// A record in words, in one line: "commit of 1:6#0 to buffer 2: 10 fragments, 4,080 bytes".
std::string OperationText(const Op& op);

/// A packet's place: "1:6#3+120", in clones "1:6#3+120 (clone 2)".
std::string PlaceText(const DiffPlace& place);

/// "record 4,734 at 1.837 s"; the time counts from the session's first record.
std::string MomentText(const LogMoment& moment, FirstTime first_time_ns);
/// The time alone; empty if there is none.
std::string TimeText(const LogMoment& moment, FirstTime first_time_ns);

/// What a kind of difference is: "Only in A".
std::string Heading(DifferenceKind kind);
/// The heading of a list of differences: "Only in A: 30 packets, of which the first 20 (--limit)".
/// @param noun what differs: "packet"
std::string ListHeading(DifferenceKind kind, uint64_t count, size_t listed, const char* noun);

/// What a side did with a packet: "returned by record 12 at 1.2 s, loss bits read_gap".
std::string ViewText(const PacketView& view, FirstTime first_time_ns);

/// "56 chunks, 240 KiB of 256 KiB; write cursor at 12,288; wrapped 31 times"
std::string StateText(const SideState& state);
/// "#15 at 4,096: 1,024 bytes, needs patching"
std::string HeldChunkText(const HeldChunk& chunk);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMPARE_DIFF_WORDS_H_
