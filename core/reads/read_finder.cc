#include <xxhash.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/base/lookup.h"
#include "core/perfetto/packet_facts.h"
#include "core/reads/ready_times.h"
#include "core/session/replay.h"

namespace ringscope {

uint64_t HashOfPacket(Bytes packet) { return XXH3_64bits(packet.data(), packet.size()); }

namespace {

/// Places that are tried for one read. A span that has more is tried in equal steps.
constexpr uint64_t kMostTries = 64;

/// A read that is looked for, and the border after its last packet.
struct WantedRead {
  uint64_t border = 0;  // packets of the file up to there
  std::optional<uint64_t> time_ns;
  ReadSpan span;
  uint64_t after = 0;
};

/// Compares the packets that a replay returns with those of the file.
class FileComparer : public ReplayListener {
 public:
  explicit FileComparer(const WrittenFile& file) : file_(file) {}

  Status OnPacket(const SessionPacket& packet) override {
    if (!packet.valid || different_) return {};
    different_ = WhyNot(*packet.packet, compared_);
    if (different_) return {};
    const uint32_t in_file = file_.packets[compared_].sequence_id;
    const auto [id, is_new] = ids_.try_emplace(in_file, packet.sequence_id);
    if (id->second == packet.sequence_id)
      ++compared_;
    else
      different_ = UnexplainedPacket::Why::kNotReturned;
    return {};
  }

  /// Why the packet is not that of the file, whatever its sequence; nullopt if it is.
  std::optional<UnexplainedPacket::Why> WhyNot(const Packet& packet, uint64_t at) {
    using Why = UnexplainedPacket::Why;
    if (at >= file_.packets.size()) return Why::kTooMany;
    const WrittenFile::Packet& expected = file_.packets[at];
    if (HashOfPacket(Joined(packet.slices, joined_)) != expected.hash) return Why::kNotReturned;
    if (packet.dropped != expected.dropped) return Why::kLossBits;
    return std::nullopt;
  }

  /// Packets of the file that were returned in their place, before any that was not.
  uint64_t compared() const { return compared_; }
  bool is_complete() const {
    return compared_ == file_.packets.size() &&
           (!different_ || (file_.IsCutOff() && why() == UnexplainedPacket::Why::kTooMany));
  }
  UnexplainedPacket::Why why() const {
    return different_.value_or(UnexplainedPacket::Why::kNotReturned);
  }

 private:
  const WrittenFile& file_;
  std::string joined_;
  std::unordered_map<uint32_t, uint32_t> ids_;  // the file's: the replay's
  uint64_t compared_ = 0;
  std::optional<UnexplainedPacket::Why> different_;
};

class Finder {
 public:
  Finder(const OpenOps& open, const EngineLookup& find_engine, const WrittenFile& file)
      : open_(open), find_engine_(find_engine), file_(file) {}

  Result<FoundReads> Run() {
    RS_ASSIGN_OR_RETURN(ready_, ReadyTimes::Find(open_, find_engine_, file_));
    ++found_.replays;
    found_.packets = file_.packets.size();
    found_.from_events = !file_.marks.empty();
    const bool at_end = !found_.from_events && file_.config && !file_.config->write_into_file;
    RS_RETURN_IF_ERROR(Try(at_end));
    if (found_.explained == 0 && !found_.from_events) RS_RETURN_IF_ERROR(Try(!at_end));
    uint64_t before = 0;
    for (const WantedRead& read : wanted_) {
      const ReadSpan same = ready_.SameAs(read.after);
      found_.reads.push_back({.after = read.after,
                              .earliest = same.earliest,
                              .latest = same.latest,
                              .time_ns = TimeOf(read),
                              .packets = read.border - before});
      before = read.border;
    }
    return std::move(found_);
  }

 private:
  /// @param at_end all was read once, else as the file's events or its config's period have it
  Status Try(bool at_end) {
    wanted_.clear();
    for (const WrittenFile::Mark& mark : file_.marks) Want(mark.packets, mark.time_ns);
    if (!at_end && !found_.from_events) TakeSchedule();
    // All of it was read at the end, or the file may have been cut off in its last read.
    if (wanted_.empty() || wanted_.back().border < file_.packets.size())
      Want(file_.packets.size(), std::nullopt);
    ChooseRecords();
    RS_ASSIGN_OR_RETURN(const bool is_equal, Compare());
    if (!is_equal) RS_RETURN_IF_ERROR(TryPlaces(found_.unexplained->read));
    if (found_.unexplained) RS_RETURN_IF_ERROR(TryPlaces(0));
    uint64_t last = 0;  // those that fit nowhere are where they were chosen, but not before others
    for (WantedRead& read : wanted_) read.after = last = std::max(read.after, last);
    return found_.unexplained ? Compare().map([](bool) {}) : Status();
  }

  void Want(uint64_t border, std::optional<uint64_t> time_ns) {
    wanted_.push_back({border, time_ns, ready_.SpanOf(border), 0});
  }

  /// Without events: the possible borders that are nearest to the multiples of the period.
  void TakeSchedule() {
    std::vector<uint64_t> borders;
    for (uint64_t border = 0; border <= file_.packets.size(); ++border)
      if (ready_.SpanOf(border).is_possible()) borders.push_back(border);
    size_t at = 0;
    for (const uint64_t record : ready_.scheduled()) {
      const auto far = [&](size_t index) {
        const ReadSpan span = ready_.SpanOf(borders[index]);
        if (record < span.earliest) return span.earliest - record;
        return record > span.latest ? record - span.latest : 0;
      };
      while (at + 1 < borders.size() && far(at + 1) <= far(at)) ++at;
      if (borders[at] > 0) Want(borders[at], ready_.TimeAt(record));
    }
  }

  /// In each span the last record before the event's time: the service notes it when the read is
  /// done.
  void ChooseRecords() {
    uint64_t last = 0;
    for (WantedRead& read : wanted_) {
      const uint64_t at = read.time_ns ? ready_.RecordAt(*read.time_ns) : ready_.records();
      read.after =
          std::max(read.span.is_possible() ? std::clamp(at, read.span.earliest, read.span.latest)
                                           : read.span.earliest,
                   last);
      last = read.after;
    }
  }

  std::optional<uint64_t> TimeOf(const WantedRead& read) const {
    const uint64_t at = ready_.TimeAt(read.after);
    if (at == 0) return std::nullopt;
    const uint64_t next =
        read.after < ready_.records() ? ready_.TimeAt(read.after + 1) : UINT64_MAX;
    return std::clamp(read.time_ns.value_or(at), at, std::max(at, next));
  }

  /// Replays the session. `visit` is called before the first record and after each one, with their
  /// number so far.
  template <typename Visit>
  Result<bool> ReplayWith(const Visit& visit) {
    FileComparer comparer(file_);
    ReplayOptions options;
    options.reads.mode = ReadsMode::kNone;
    if (find_engine_) options.session.find_engine = find_engine_;
    Replay replay(std::move(options), comparer);
    ++found_.replays;
    RS_ASSIGN_OR_RETURN(const std::unique_ptr<OpSource> ops, open_());
    RS_RETURN_IF_ERROR(visit(replay.session(), comparer, 0));
    while (true) {
      RS_ASSIGN_OR_RETURN(const std::optional<Op> op, ops->Next());
      if (!op) break;
      RS_RETURN_IF_ERROR(replay.Apply(*op));
      RS_RETURN_IF_ERROR(visit(replay.session(), comparer, replay.records()));
    }
    found_.explained = comparer.compared();
    found_.unexplained.reset();
    if (comparer.is_complete()) {
      CompareStats(replay.session());
      return true;
    }
    const uint64_t packet = comparer.compared();
    UnexplainedPacket& first = found_.unexplained.emplace();
    first.packet = packet;
    while (first.read + 1 < wanted_.size() && wanted_[first.read].border <= packet) ++first.read;
    first.why = comparer.why();
    if (packet < file_.packets.size()) {
      first.sequence_id = file_.packets[packet].sequence_id;
      if (first.why == UnexplainedPacket::Why::kNotReturned && !ready_.IsInLog(packet))
        first.why = UnexplainedPacket::Why::kNotInLog;
    }
    return false;
  }

  static Status ReadAll(Session& session) {
    for (bool more = true; more;) {
      RS_ASSIGN_OR_RETURN(more, session.ReadAllBuffers(ServiceReads::kFilePassBytes));
    }
    return {};
  }

  Result<bool> Compare() {
    size_t next = 0;
    return ReplayWith([&](Session& session, FileComparer&, uint64_t records) -> Status {
      for (; next < wanted_.size() && wanted_[next].after == records; ++next)
        RS_RETURN_IF_ERROR(ReadAll(session));
      return {};
    });
  }

  /// Returns the places to try for a read: those in its span, and, as packets that are alike hide
  /// that, after each of some commits around the time that the service noted.
  std::set<uint64_t> PlacesOf(const WantedRead& read, uint64_t from) const {
    std::set<uint64_t> places;
    const uint64_t first = std::max(read.span.earliest, from);
    const uint64_t last = std::max(read.span.latest, first);
    for (uint64_t at = first; at < last; at += (last - first) / kMostTries + 1) places.insert(at);
    places.insert(last);
    const uint64_t noted = read.time_ns ? ready_.RecordAt(*read.time_ns) : first;
    places.merge(ready_.AfterCommits(noted, from, kMostTries));
    return places;
  }

  /// Tries the places of the reads from this one on. A read that fits nowhere ends it.
  Status TryPlaces(size_t first) {
    size_t next = 0;
    std::set<uint64_t> places;
    return ReplayWith([&](Session& session, FileComparer& comparer, uint64_t records) -> Status {
             for (; next < wanted_.size(); ++next) {
               WantedRead& read = wanted_[next];
               if (next < first && records < read.after) return {};
               if (next >= first) {
                 if (places.empty()) places = PlacesOf(read, records);
                 if (!places.contains(records)) return {};
                 RS_ASSIGN_OR_RETURN(const bool fits,
                                     ReturnsTheNext(session, comparer, read.border));
                 if (!fits) return {};
                 places.clear();
                 read.after = records;
               }
               RS_RETURN_IF_ERROR(ReadAll(session));
             }
             return {};
           })
        .transform([](bool) {});
  }

  /// Returns true if a read now would return the file's next packets, up to the border.
  Result<bool> ReturnsTheNext(const Session& session, FileComparer& comparer, uint64_t border) {
    uint64_t at = comparer.compared();
    for (const auto& [id, buffer] : session.buffers()) {
      if (buffer.freed) continue;
      RS_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> clone, buffer.engine->Clone());
      clone->BeginRead();
      while (const Packet* packet = clone->NextPacket()) {
        if (!IsValidPacket(packet->slices, buffer.info->release)) continue;
        if (at == file_.packets.size() && file_.IsCutOff()) return true;
        if (at == border || comparer.WhyNot(*packet, at)) return false;
        ++at;
      }
    }
    return at == border;
  }

  void CompareStats(const Session& session) {
    found_.has_stats = !file_.stats.empty();
    for (const auto& [id, buffer] : session.buffers()) {
      if (buffer.index >= file_.stats.size()) continue;
      const BufferStats& expected = file_.stats[buffer.index];
      const BufferStats& stats = buffer.engine->stats();
      for (const StatField& field : kStatFields)
        if (stats.*field.value != expected.*field.value &&
            !Contains(found_.different_stats, field.name))
          found_.different_stats.emplace_back(field.name);
    }
  }

  const OpenOps& open_;
  const EngineLookup& find_engine_;
  const WrittenFile& file_;
  ReadyTimes ready_;
  std::vector<WantedRead> wanted_;
  FoundReads found_;
};

}  // namespace

Result<FoundReads> FindReads(const OpenOps& open, const EngineLookup& find_engine,
                             const WrittenFile& file) {
  return Finder(open, find_engine, file).Run();
}

}  // namespace ringscope
