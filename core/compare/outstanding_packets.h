#ifndef RINGSCOPE_CORE_COMPARE_OUTSTANDING_PACKETS_H_
#define RINGSCOPE_CORE_COMPARE_OUTSTANDING_PACKETS_H_

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/compare/diff_chunks.h"
#include "core/compare/diff_side.h"

namespace ringscope {

/// A packet that one side returned and the other did not, so far.
struct OutstandingPacket {
  Side side{};  // that returned it
  ReturnedPacket packet;
  LogMoment moment;
  LogMoment written;
  /// It is the first difference of all, which is updated once the packet is settled.
  bool is_first = false;
};

/// The packets that wait for the other side, by the chunk that they begin in.
class OutstandingPackets {
 public:
  void Add(OutstandingPacket packet) {
    if (!packet.packet.is_placed) ++unplaced_;
    packets_[packet.packet.chunk()].push_back(std::move(packet));
  }

  /// Takes out the same packet as the other side returned it before; nullopt: it did not.
  std::optional<OutstandingPacket> Take(Side side, const ReturnedPacket& packet) {
    if (const auto found = packets_.find(packet.chunk()); found != packets_.end())
      if (auto taken = TakeFrom(found, side, packet)) return taken;
    if (packet.is_placed && unplaced_ == 0) return std::nullopt;
    for (auto at = packets_.begin(); at != packets_.end(); ++at)
      if (auto taken = TakeFrom(at, side, packet)) return taken;
    return std::nullopt;
  }

  /// Takes out all of a chunk, in the order in which they were added.
  std::vector<OutstandingPacket> TakeAll(const ChunkAt& chunk) {
    const auto found = packets_.find(chunk);
    if (found == packets_.end()) return {};
    std::vector<OutstandingPacket> taken = std::move(found->second);
    packets_.erase(found);
    return taken;
  }

  /// Takes out all of the chunks that `selects` is true for, in the order of the log.
  template <typename Selects>
  std::vector<OutstandingPacket> TakeWhere(Selects selects) {
    std::vector<OutstandingPacket> taken;
    for (auto& [chunk, waiting] : packets_) {
      if (!selects(chunk)) continue;
      for (OutstandingPacket& packet : waiting) taken.push_back(std::move(packet));
    }
    std::erase_if(packets_, [&](const auto& entry) { return selects(entry.first); });
    std::sort(taken.begin(), taken.end(), [](const auto& x, const auto& y) {
      const auto key = [](const OutstandingPacket& packet) {
        const DiffPlace& place = packet.packet.place;
        return std::tuple(packet.moment.record, Raw(place.buffer), place.sequence.Packed(),
                          Raw(place.chunk), place.offset, packet.side);
      };
      return key(x) < key(y);
    });
    return taken;
  }

 private:
  using Map = std::unordered_map<ChunkAt, std::vector<OutstandingPacket>>;

  std::optional<OutstandingPacket> TakeFrom(Map::iterator at, Side side,
                                            const ReturnedPacket& packet) {
    std::vector<OutstandingPacket>& waiting = at->second;
    const auto match =
        std::find_if(waiting.begin(), waiting.end(), [&](const OutstandingPacket& other) {
          return other.side != side && other.packet.IsSameAs(packet);
        });
    if (match == waiting.end()) return std::nullopt;
    OutstandingPacket taken = std::move(*match);
    waiting.erase(match);
    if (waiting.empty()) packets_.erase(at);
    if (!taken.packet.is_placed) --unplaced_;
    return taken;
  }

  Map packets_;
  uint64_t unplaced_ = 0;  // packets without a place
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_OUTSTANDING_PACKETS_H_
