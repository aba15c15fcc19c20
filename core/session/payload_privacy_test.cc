// What a log without payloads keeps does not depend on what packets say: of two logs that differ in
// nothing but that, and in what was in the memory before, the same is left, bit by bit. And it is
// replayed as the full log.

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/wire.h"
#include "core/ledger/ledger.h"
#include "core/log/payload_mask.h"
#include "core/perfetto/fields.h"
#include "core/session/replay.h"

namespace ringscope::payload_privacy {
namespace {

using proto::TracePacket;

constexpr size_t kChunkPayload = 180;  // bytes of a chunk's
constexpr uint32_t kContentField = 700;
/// In every content, so that it is seen where it survives.
constexpr std::string_view kMarker = "SeCrEt";

/// Chunk commits and patches of one writer, as Perfetto's makes them: nested messages whose size is
/// not known when their chunk ends are patched with the chunk in which they end, or earlier.
class RandomWriter {
 public:
  /// @param shape chooses all but what packets say, which `content` chooses
  /// @param scrapes_in_order no chunk is scraped before the one before it was committed
  RandomWriter(WriterId id, uint32_t shape, uint32_t content, bool scrapes_in_order)
      : id_(id), scrapes_in_order_(scrapes_in_order), shape_(shape), content_(content) {
    Open(false);
  }

  /// Writes a packet. @param requests get what is committed meanwhile
  void WritePacket(std::vector<std::string>& requests) {
    requests_ = &requests;
    is_aborted_ = false;
    if (bytes_.size() + 12 > kChunkPayload || fragments_ == 20) NextChunk(false);
    BeginFragment();
    Kept(TracePacket::kTimestamp, 1 + ++time_ * 1000);
    if (Chance(2)) Kept(TracePacket::kSequenceFlags, 2);
    const int fields = Pick(1, 4);
    for (int i = 0; i < fields; ++i) TopField();
    if (Chance(4)) Kept(TracePacket::kPreviousPacketDropped, 1);
    if (is_aborted_) return;
    EndFragment();
    if (Chance(6)) Scrape(true);
    if (Chance(8)) NextChunk(false);
  }
  void Finish(std::vector<std::string>& requests) {
    requests_ = &requests;
    NextChunk(false);
    Send();
  }

 private:
  struct Message {
    uint32_t chunk = 0;
    size_t at = 0;  // of its size
    size_t bytes = 0;
  };

  int Pick(int low, int high) {
    return low + static_cast<int>(shape_() % static_cast<uint32_t>(high - low + 1));
  }
  bool Chance(int n) { return shape_() % static_cast<uint32_t>(n) == 0; }
  char AnyByte() { return static_cast<char>(content_()); }

  void Open(bool continues) {
    bytes_.clear();
    fragments_ = 0;
    flags_ = continues ? kFirstContinues : 0;
  }
  void BeginFragment() {
    fragment_at_ = bytes_.size();
    bytes_.append(4, '\0');
    ++fragments_;
  }
  void EndFragment() { StoreSize(fragment_at_, bytes_.size() - fragment_at_ - 4); }
  void StoreSize(size_t at, size_t size) { bytes_.replace(at, 4, WideSize(size)); }
  static std::string WideSize(size_t size) {
    std::string wide;
    for (int i = 0; i < 4; ++i, size >>= 7)
      wide.push_back(static_cast<char>((size & 0x7F) | (i < 3 ? 0x80 : 0)));
    return wide;
  }

  /// What the chunk has now, and after it what was in the memory before.
  std::string Payload() {
    std::string payload = bytes_;
    // Where the size of the next fragment will be: that can stay, if it looks like one.
    if (payload.size() < kChunkPayload) payload.push_back(Chance(2) ? '\0' : '\x80');
    if (payload.size() < kChunkPayload && payload.back() != '\0') payload.push_back('\x01');
    while (payload.size() < kChunkPayload) payload.push_back(AnyByte());
    return payload;
  }
  /// @param continues whether the packet does
  void NextChunk(bool continues) {
    std::set<size_t> holes;
    for (const Message& message : open_)
      if (message.chunk == chunk_) holes.insert(message.at);
    if (continues) {
      EndFragment();
      flags_ |= kLastContinues;
    } else if (bytes_.size() < kChunkPayload) {
      bytes_.push_back('\0');  // the empty fragment that closes a chunk
      ++fragments_;
    }
    if (!holes.empty()) flags_ |= kNeedsPatching;
    missing_[chunk_] = holes.size();
    CommitRequestBuilder(request_).AddChunk(BufferId{1}, {ChunkId{chunk_}, id_, fragments_, flags_},
                                            wire::AsBytes(Payload()), true);
    holds_chunks_ = true;
    if (Chance(2)) Send();
    ++chunk_;
    Open(continues);
    if (continues) BeginFragment();
  }
  void Send() {
    holds_chunks_ = false;
    if (!request_.empty()) requests_->push_back(std::exchange(request_, ""));
  }
  /// The recorder copies the chunk while the writer has it.
  /// @param is_between packets: the count may be one more than these
  void Scrape(bool is_between) {
    if (scrapes_in_order_ && holds_chunks_) return;
    std::string request;
    const auto count = static_cast<uint16_t>(fragments_ + (is_between && Chance(2) ? 1 : 0));
    CommitRequestBuilder(request).AddChunk(BufferId{1}, {ChunkId{chunk_}, id_, count, flags_},
                                           wire::AsBytes(Payload()), false);
    requests_->push_back(request);
  }

  void Put(std::string_view bytes) {
    for (const char byte : bytes) {
      if (is_aborted_) return;
      if (bytes_.size() == kChunkPayload) Continue();
      if (is_aborted_) return;
      bytes_.push_back(byte);
      for (Message& message : open_) ++message.bytes;
    }
  }
  void Continue() {
    if (Chance(12)) return Abort();
    if (Chance(8)) Scrape(false);
    NextChunk(true);
  }
  /// No chunk is left for the packet's rest.
  void Abort() {
    is_aborted_ = true;
    open_.clear();
    bytes_.replace(fragment_at_, 4, "\xff\xff\xff\x7f");
    CommitRequestBuilder(request_).AddChunk(BufferId{1}, {ChunkId{chunk_}, id_, fragments_, flags_},
                                            wire::AsBytes(Payload()), true);
    holds_chunks_ = true;
    ++chunk_;
    Open(false);
  }

  void Kept(uint32_t field, uint64_t value) {
    std::string bytes;
    wire::AppendUint(bytes, field, value);
    Put(bytes);
  }
  void TopField() {
    constexpr uint32_t kMessages[] = {
        TracePacket::kTrackEvent,          TracePacket::kInternedData, kContentField,
        TracePacket::kTracePacketDefaults, TracePacket::kFtraceEvents, TracePacket::kFtraceStats};
    const int kind = Pick(0, 8);
    if (kind < 6)
      Nested(kMessages[kind], 0);
    else
      Content(kContentField + static_cast<uint32_t>(kind));
  }
  void Nested(uint32_t field, int depth) {
    std::string tag;
    wire::AppendTag(tag, field, wire::Type::kBytes);
    Put(tag);
    if (is_aborted_) return;
    // Its size is in one chunk.
    if (bytes_.size() + 4 > kChunkPayload) Continue();
    if (is_aborted_) return;
    for (Message& message : open_) message.bytes += 4;
    open_.push_back({chunk_, bytes_.size(), 0});
    // Until it is known: what was there before, or nothing at all.
    const bool is_clear = Chance(3);
    for (int i = 0; i < 4; ++i) bytes_.push_back(is_clear ? '\0' : HoleByte());
    if (field == TracePacket::kFtraceEvents) Kept(proto::FtraceEventBundle::kCpu, 3);
    const int fields = Pick(1, 4);
    for (int i = 0; i < fields && !is_aborted_; ++i) {
      if (depth < 2 && Chance(3))
        Nested(2 + shape_() % 4, depth + 1);
      else
        Content(20 + shape_() % 4);
    }
    if (is_aborted_) return;
    const Message message = open_.back();
    open_.pop_back();
    if (message.chunk == chunk_) return StoreSize(message.at, message.bytes);
    const std::string size = WideSize(message.bytes);
    CommitRequestBuilder(request_).AddPatch({.target_buffer = 1,
                                             .writer = Raw(id_),
                                             .chunk = message.chunk,
                                             .patches = {{message.at, wire::AsBytes(size)}},
                                             .more = --missing_[message.chunk] > 0});
    if (Chance(3)) Send();
  }
  /// Looks like a field of a packet now and then, and is never zero.
  char HoleByte() {
    constexpr char kLikely[] = {1, 2, 3, 5, 8, 0x0a, 0x40, 0x5a, 0x62, 'S'};
    const auto choice = content_() % 16;
    return choice < 10 ? kLikely[choice] : static_cast<char>(1 + content_() % 255);
  }
  void Content(uint32_t field) {
    std::string bytes;
    switch (Pick(0, 3)) {
      case 0:
        wire::AppendTag(bytes, field, wire::Type::kVarint);
        for (int left = Pick(0, 8); left > 0; --left)
          bytes.push_back(static_cast<char>(AnyByte() | 0x80));
        bytes.push_back(static_cast<char>(AnyByte() & 0x7F));
        break;
      case 1:
        wire::AppendTag(bytes, field, wire::Type::kFixed64);
        for (int i = 0; i < 8; ++i) bytes.push_back(AnyByte());
        break;
      default: {
        std::string text(kMarker);
        for (int left = Pick(0, Chance(4) ? 400 : 30); left > 0; --left) text.push_back(HoleByte());
        wire::AppendBytes(bytes, field, wire::AsBytes(text));
      }
    }
    Put(bytes);
  }

  const WriterId id_;
  const bool scrapes_in_order_;
  bool holds_chunks_ = false;  // that are complete and not sent
  std::mt19937 shape_, content_;
  std::vector<std::string>* requests_ = nullptr;
  std::string request_;  // that is sent next
  std::string bytes_;    // of the chunk that is being written
  uint32_t chunk_ = 0;
  uint16_t fragments_ = 0;
  uint8_t flags_ = 0;
  size_t fragment_at_ = 0;
  uint64_t time_ = 0;
  std::vector<Message> open_;
  std::map<uint32_t, size_t> missing_;  // sizes, by chunk
  bool is_aborted_ = false;
};

std::vector<std::string> RandomRequests(uint32_t shape, uint32_t content, bool scrapes_in_order) {
  std::vector<std::string> requests;
  RandomWriter a(WriterId{1}, shape, content, scrapes_in_order);
  RandomWriter b(WriterId{2}, shape + 1000, content + 1000, scrapes_in_order);
  std::mt19937 turns(shape);
  for (int i = 0; i < 60; ++i) (turns() % 2 == 0 ? a : b).WritePacket(requests);
  a.Finish(requests);
  b.Finish(requests);
  return requests;
}

Op CommitOf(const std::string& request) {
  return {.time_ns = 5,
          .body = Commit{.producer = ProducerId{1}, .request = wire::AsBytes(request)}};
}

std::vector<std::string> WithoutPayloads(const std::vector<std::string>& requests) {
  std::vector<std::string> bare;
  PayloadMask mask;
  for (const std::string& request : requests)
    bare.emplace_back(wire::AsText(std::get<Commit>(mask.Apply(CommitOf(request)).body).request));
  return bare;
}

/// What a replay reports, a line each.
class Report : public LedgerSink, public ReplayListener {
 public:
  void OnPacketFate(const PacketAccount& account) override {
    const PacketFacts& facts = account.facts;
    std::ostringstream line;
    line << account.sequence.Packed() << ' ' << account.first_chunk << ' ' << account.first_offset
         << ' ' << account.size << ' ' << Name(account.fate) << ' ' << Name(account.cause) << ' '
         << facts.timestamp.value_or(1);
    // Of a packet in several fragments not all fields are kept.
    if (account.first_chunk == account.last_chunk && !account.in_fragments) {
      line << ' ' << facts.content << ' ' << facts.timestamp_clock.value_or(0) << ' '
           << facts.dropped << ' ' << facts.clears_state << facts.needs_state
           << facts.has_interned_data;
    }
    lines.push_back(line.str());
  }
  Status OnPacket(const SessionPacket& packet) override {
    size_t bytes = 0;
    for (const Bytes slice : packet.packet->slices) bytes += slice.size();
    lines.push_back("packet of " + std::to_string(bytes) + (packet.valid ? "" : ", invalid"));
    return {};
  }
  std::vector<std::string> lines;
};

std::vector<std::string> ReportOf(const std::vector<std::string>& requests, const char* engine,
                                  uint64_t buffer) {
  Report report;
  Ledger ledger(report);
  ReplayOptions options{.plain_streams_as_recorded = true};
  options.session.all.engine = engine;
  Replay replay(options, {&ledger, &report});
  EXPECT_TRUE(replay.Apply({.time_ns = 1, .body = BufferSetUp{.id = BufferId{1}, .size = buffer}}));
  size_t count = 0;
  for (const std::string& request : requests) {
    EXPECT_TRUE(replay.Apply(CommitOf(request)));
    if (++count % 7 != 0) continue;
    EXPECT_TRUE(replay.Apply({.time_ns = 5, .body = ReadPass{.buffer = BufferId{1}}}));
  }
  EXPECT_TRUE(replay.Apply({.time_ns = 5, .body = ReadPass{.buffer = BufferId{1}}}));
  EXPECT_TRUE(replay.Finish());
  EXPECT_EQ(ledger.Check(), "");
  return report.lines;
}

TEST(PayloadPrivacy, WhatPacketsSay_HasNoInfluence) {
  for (uint32_t shape = 1; shape <= 150; ++shape) {
    SCOPED_TRACE(shape);
    const std::vector<std::string> one = RandomRequests(shape, 7 * shape, shape % 2 == 0);
    const std::vector<std::string> other = RandomRequests(shape, 7 * shape + 1, shape % 2 == 0);
    ASSERT_EQ(one.size(), other.size());
    ASSERT_NE(one, other);
    const std::vector<std::string> bare = WithoutPayloads(one);
    ASSERT_TRUE(bare == WithoutPayloads(other));
    ASSERT_EQ(bare.size(), one.size());
    for (size_t i = 0; i < bare.size(); ++i) {
      EXPECT_EQ(bare[i].size(), one[i].size());
      EXPECT_EQ(bare[i].find(kMarker.substr(0, 3)), std::string::npos);
    }
  }
}

TEST(PayloadPrivacy, ReplaysAsTheFullLog) {
  size_t packets = 0;
  for (uint32_t shape = 1; shape <= 60; ++shape) {
    const std::vector<std::string> full = RandomRequests(shape, shape, true);
    for (const char* const engine : {"v1", "v2@54", "v2@58"}) {
      for (const uint64_t buffer : {uint64_t{4096}, uint64_t{1} << 20}) {
        SCOPED_TRACE(std::to_string(shape) + ", " + engine + ", " + std::to_string(buffer));
        const auto expected = ReportOf(full, engine, buffer);
        const auto bare = ReportOf(WithoutPayloads(full), engine, buffer);
        for (size_t i = 0; i < std::max(bare.size(), expected.size()); ++i)
          ASSERT_EQ(i < bare.size() ? bare[i] : "", i < expected.size() ? expected[i] : "") << i;
        packets += expected.size();
      }
    }
  }
  EXPECT_GT(packets, 5'000u);
}

}  // namespace
}  // namespace ringscope::payload_privacy
