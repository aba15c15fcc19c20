#ifndef RINGSCOPE_COMMANDS_GRAPH_GRAPH_WORDS_H_
#define RINGSCOPE_COMMANDS_GRAPH_GRAPH_WORDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/enum_names.h"
#include "core/graph/chunk_graph.h"

namespace ringscope {

// The parts of a chunk graph in words, as all its outputs use them.

/// What a chunk looks like; each output has a colour or a sign for it.
enum class Tone : uint8_t { kGood, kUnread, kWaiting, kPartly, kLost, kUnknown };
/// For style classes.
template <>
inline constexpr std::array kEnumNames<Tone> = {"good",   "unread", "waiting",
                                                "partly", "lost",   "unknown"};
inline constexpr size_t kTones = kEnumNames<Tone>.size();
/// What it means, for a legend.
const char* Meaning(Tone tone);
Tone ToneOf(ChunkFate fate);
/// Of a run: the worst of its chunks'.
Tone ToneOf(const ChunkRun& run);

/// When things happened, relative to the session's start.
class GraphClock {
 public:
  explicit GraphClock(std::optional<uint64_t> start_ns) : start_ns_(start_ns) {}
  /// "0.714486 s", or "record 17" where the log has no times.
  std::string At(const LogMoment& moment) const;

 private:
  std::optional<uint64_t> start_ns_;
};

/// "#120": the id as the chunk has it.
std::string IdText(uint64_t id);
/// "#120-#987" or "#120".
std::string RangeText(uint64_t first, uint64_t last);
/// "772 packets: 31 read, 741 overwritten"; "no packets".
std::string PacketsText(const FateTally& packets);

/// "overwritten", "waits for a patch", "all read", "100 read, 12 overwritten".
std::string ShortFate(const ChunkNode& node);
std::string ShortFate(const ChunkRun& run);
/// Who evicted it: "2:1#480", "2:4 (61%), 2:1 (39%)"; "" for nobody.
std::string CulpritText(const ChunkNode& node);
std::string CulpritText(const ChunkRun& run);

/// What became of a chunk, in one line: "overwritten by 2:1#480 at 1.815 s".
std::string FateText(const ChunkNode& node, const GraphClock& clock);
/// What else there is to know: "4 patches applied", "1 re-commit", ... May be empty.
std::vector<std::string> Remarks(const ChunkNode& node, const GraphClock& clock);
/// "continues", "needs patching", ... as committed.
std::string FlagsText(uint8_t flags);

/// What became of a run: "all overwritten by 2:4 (61%), 2:1 (39%)".
std::string FateText(const ChunkRun& run);
std::vector<std::string> Remarks(const ChunkRun& run);

std::string GapText(const ChunkGap& gap);
/// "packet continues: read"; "" for none.
const char* LinkText(Link link);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GRAPH_GRAPH_WORDS_H_
