#ifndef RINGSCOPE_CORE_GAPS_LOST_NAMES_H_
#define RINGSCOPE_CORE_GAPS_LOST_NAMES_H_

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/enum_names.h"
#include "core/ledger/ledger.h"

namespace ringscope {

/// What process_tree and packages_list packets name.
enum class NamedThing : uint8_t { kProcess, kThread, kPackage };
template <>
inline constexpr std::array kEnumNames<NamedThing> = {"process", "thread", "package"};
inline constexpr size_t kNamedThings = kEnumNames<NamedThing>.size();

/// Something that has no name in the trace, as only lost packets named it.
struct LostName {
  NamedThing thing{};
  uint64_t id = 0;  // pid, tid or uid
  std::string name;
  BufferId buffer{};
  ChunkName chunk;  // of the lost packet

  friend bool operator==(const LostName&, const LostName&) = default;
};

/// Finds names that only lost packets have. Of a packet in several fragments only the first one is
/// read. Memory: O(names), up to a limit.
class LostNames {
 public:
  static constexpr size_t kMaxNames = 65536;

  /// A packet's first fragment, as it is committed.
  /// @param content the field that is the packet's content; most are ignored
  /// @param message that field, as much of it as there is
  void AddFragment(BufferId buffer, ChunkName chunk, size_t fragment, uint32_t content,
                   Bytes message);
  void OnPacketFate(const PacketAccount& account);
  /// By thing and id.
  std::vector<LostName> Result() const;

 private:
  using Place = std::tuple<BufferId, uint64_t, size_t>;

  static void Read(Bytes message, uint32_t content, std::vector<LostName>& names);

  std::map<Place, std::vector<LostName>> pending_;
  size_t pending_names_ = 0;
  std::set<std::pair<NamedThing, uint64_t>> read_;
  std::map<std::pair<NamedThing, uint64_t>, LostName> lost_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_LOST_NAMES_H_
