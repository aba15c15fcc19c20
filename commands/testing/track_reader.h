#ifndef RINGSCOPE_COMMANDS_TESTING_TRACK_READER_H_
#define RINGSCOPE_COMMANDS_TESTING_TRACK_READER_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/wire.h"

namespace ringscope::testing {

/// A track event as this test reads it, by the numbers of the trace format.
struct Event {
  uint64_t time = 0;
  uint64_t type = 0;  // 1 begin, 2 end, 3 instant, 4 counter
  uint64_t track = 0;
  std::string name;
  uint64_t value = 0;
  std::map<std::string, std::string> args;
};

struct Track {
  std::string name;
  uint64_t parent = 0;
  bool is_counter = false;
  std::optional<uint64_t> pid;  // of a process's
};

struct Trace {
  std::vector<Event> events;
  std::map<uint64_t, Track> tracks;

  /// "app / main / lost packets"; of a track that is not described here its number.
  std::string PathOf(uint64_t track) const {
    const auto found = tracks.find(track);
    if (found == tracks.end()) return std::to_string(track);
    const Track& at = found->second;
    return at.parent == 0 ? at.name : PathOf(at.parent) + " / " + at.name;
  }
};

template <typename Visit>
void EachField(Bytes message, Visit visit) {
  wire::FieldReader reader(message);
  while (const auto field = reader.Next()) visit(*field);
  EXPECT_TRUE(reader.ok());
}

inline Event ParseEvent(Bytes message) {
  Event event;
  EachField(message, [&](const wire::Field& field) {
    if (field.number == 9) event.type = field.value;
    if (field.number == 11) event.track = field.value;
    if (field.number == 23) event.name = wire::AsText(field.bytes);
    if (field.number == 30) event.value = field.value;
    if (field.number != 4) return;
    std::string name, value;
    EachField(field.bytes, [&](const wire::Field& part) {
      if (part.number == 10)
        name = wire::AsText(part.bytes);
      else
        value =
            part.number == 6 ? std::string(wire::AsText(part.bytes)) : std::to_string(part.value);
    });
    event.args[name] = value;
  });
  return event;
}

/// @param file a trace, or the end of one
inline Trace ParseTracks(const std::string& file) {
  Trace trace;
  EachField(wire::AsBytes(file), [&](const wire::Field& packet) {
    ASSERT_EQ(packet.number, 1u);
    uint64_t time = 0;
    bool has_sequence = false;
    EachField(packet.bytes, [&](const wire::Field& field) {
      if (field.number == 8) time = field.value;
      has_sequence |= field.number == 10 && field.value != 0;
      if (field.number == 11) trace.events.push_back(ParseEvent(field.bytes));
      if (field.number != 60) return;
      Track track;
      uint64_t uuid = 0;
      EachField(field.bytes, [&](const wire::Field& part) {
        if (part.number == 1) uuid = part.value;
        if (part.number == 2) track.name = wire::AsText(part.bytes);
        if (part.number == 5) track.parent = part.value;
        track.is_counter |= part.number == 8;
        if (part.number != 3) return;
        EachField(part.bytes, [&](const wire::Field& process) {
          if (process.number == 1) track.pid = process.value;
          if (process.number == 6) track.name = wire::AsText(process.bytes);
        });
      });
      EXPECT_TRUE(trace.tracks.emplace(uuid, track).second) << "a track is described twice";
    });
    EXPECT_TRUE(has_sequence);
    if (!trace.events.empty() && trace.events.back().time == 0) trace.events.back().time = time;
  });
  // Readers sort too: losses are in the file when they are certain.
  std::stable_sort(trace.events.begin(), trace.events.end(),
                   [](const Event& a, const Event& b) { return a.time < b.time; });
  return trace;
}

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_TRACK_READER_H_
