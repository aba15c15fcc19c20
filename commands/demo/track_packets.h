#ifndef RINGSCOPE_COMMANDS_DEMO_TRACK_PACKETS_H_
#define RINGSCOPE_COMMANDS_DEMO_TRACK_PACKETS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace ringscope::demo {

/// A packet as a trace writer gets it.
struct TrackPacket {
  std::string bytes;
  /// Where the size of its track event is, which takes four bytes and may be patched.
  size_t size_offset = 0;
};

/// Makes the packets of a sequence with one track: slices that trace processor and the UI show.
/// Names are interned. All packets of a kind have the same size, whatever the time is.
class TrackPackets {
 public:
  /// @param number of the track, different for each sequence
  TrackPackets(uint64_t number, std::string process, std::string track)
      : number_(number), process_(std::move(process)), track_(std::move(track)) {}

  /// The state that the events need: the track, the names. It has no time.
  std::string State() const;
  TrackPacket Begin(uint64_t time_ns, uint32_t name, std::string_view detail) const;
  TrackPacket End(uint64_t time_ns) const;

  /// Names of slices, by their numbers from 1.
  static constexpr std::string_view kNames[] = {"frame", "layout", "draw",
                                                "input", "load",   "burst"};
  enum NameId : uint32_t { kFrame = 1, kLayout, kDraw, kInput, kLoad, kBurst };

 private:
  TrackPacket Event(uint64_t time_ns, const std::string& event) const;

  const uint64_t number_;
  const std::string process_;
  const std::string track_;
};

}  // namespace ringscope::demo

#endif  // RINGSCOPE_COMMANDS_DEMO_TRACK_PACKETS_H_
