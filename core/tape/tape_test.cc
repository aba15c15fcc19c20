// What listeners hear from a tape, later, is what they hear from the replay itself.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/wire.h"
#include "core/compare/random_stream.h"
#include "core/session/replay.h"
#include "core/tape/tape_recorder.h"
#include "core/testing/ops_in_memory.h"

namespace ringscope {
namespace {

/// Writes down all that a listener and a ledger's sink can hear, with the bytes.
class Hearing : public ReplayListener, public LedgerSink {
 public:
  bool WantsBufferEvents() const override { return true; }
  void OnRecord(const Op& op, const LogMoment& moment) override {
    Line("record {} of kind {}", moment.record.value_or(0), op.body.index());
    if (const auto* commit = std::get_if<Commit>(&op.body)) Add(commit->request);
  }
  void OnBufferSetUp(SessionBuffer& buffer) override {
    buffers_[buffer.id] = &buffer;
    Line("set up {} of {} bytes, {}", Raw(buffer.id), buffer.requested_size, buffer.info->name);
  }
  void OnBufferEmptied(SessionBuffer& buffer) override { Line("emptied {}", Raw(buffer.id)); }
  void OnBufferReplaced(SessionBuffer& buffer) override { Line("replaced {}", Raw(buffer.id)); }
  void OnChunk(BufferId id, const ChunkCommit& commit, std::optional<Refusal> refusal) override {
    Line("chunk to {}, refused {}", Raw(id), refusal.has_value());
    Add(commit);
  }
  void OnChunkDone(BufferId id, const ChunkCommit& commit) override {
    Line("done in {}", Raw(id));
    Add(commit);
    AddStats(id);
  }
  void OnPatch(BufferId id, bool ok) override {
    Line("patch of {}: {}", Raw(id), ok);
    AddStats(id);
  }
  void OnReadBegun(BufferId id) override { Line("read of {}", Raw(id)); }
  Status OnPacket(const SessionPacket& packet) override {
    Line("packet");
    Add(packet);
    return {};
  }
  void OnTakenPacket(const SessionPacket& packet) override {
    Line("taken");
    Add(packet);
  }
  void OnReadLimited(BufferId id) override { Line("limited in {}", Raw(id)); }
  void OnReadDone(BufferId id, uint64_t packets) override {
    Line("{} read from {}", packets, Raw(id));
    AddStats(id);
  }
  void OnCloneBegun(const SessionBuffer& buffer) override { Line("clone of {}", Raw(buffer.id)); }
  void OnClonePacket(const SessionPacket& packet) override {
    Line("of the clone");
    Add(packet);
  }
  void OnCloneDone(BufferId id, uint64_t packets, const BufferStats& stats) override {
    Line("{} of the clone of {}, {} bytes", packets, Raw(id), stats.bytes_read);
  }
  void OnBufferEvent(const BufferEvent& event) override {
    Line("event: {}", Describe(event));
    Add(event);
    if (event.kind == BufferEvent::Kind::kGivenUp) AddStats(event.buffer);
  }
  Status OnLogEnd(Session&) override {
    Line("end");
    return {};
  }
  void OnDrainBegun(BufferId id) override { Line("drain of {}", Raw(id)); }
  void OnDrainEvent(const BufferEvent& event) override {
    Line("drain event: {}", Describe(event));
    Add(event);
  }
  void OnDrainPacket(BufferId id, const Packet& packet) override {
    Line("drained from {}", Raw(id));
    Add(packet);
  }
  void OnDrained() override { Line("drained"); }
  void OnWarning(const std::string& what) override { Line("warning: {}", what); }

  void OnChunkWritten(BufferId id, WrittenCommit& written) override {
    Line("written to {}: {} fragments", Raw(id), written.chunk().fragments.size());
    Add(written.commit());
  }
  void OnPacketFate(const PacketAccount& account) override {
    Line("fate {}, cause {}, of {}, {}+{}, {} bytes of {}", Name(account.fate), Name(account.cause),
         account.sequence.Packed(), account.first_chunk, account.first_offset, account.size,
         account.facts.content);
  }
  void OnDuplicate(const PacketAccount& account) override { Line("again: {}", account.position); }
  void OnChunkForgotten(BufferId, SequenceKey, uint64_t chunk) override {
    Line("forgotten: {}", chunk);
  }

  std::string text;

 private:
  template <typename... Arguments>
  void Line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text += "\n" + fmt::format(format, std::forward<Arguments>(arguments)...);
  }
  void Add(Bytes bytes) { text += fmt::format(" [{}] {}", bytes.size(), wire::AsText(bytes)); }
  void Add(const ChunkCommit& commit) {
    text += fmt::format(" {} {} {} {} {}", ToString({commit.sequence, commit.chunk}),
                        commit.fragments, commit.flags, commit.complete, commit.identity.uid);
    Add(commit.payload);
  }
  void Add(const Packet& packet) {
    text += fmt::format(" {} {} {}", ToString({packet.sequence, packet.place.first_chunk}),
                        packet.size, packet.dropped);
    for (const Bytes slice : packet.slices) Add(slice);
  }
  void Add(const SessionPacket& packet) {
    text += fmt::format(" {} {} {}", Raw(packet.buffer), packet.sequence_id, packet.valid);
    Add(*packet.packet);
  }
  void Add(const BufferEvent& event) {
    text += fmt::format(" {} {} {}", event.at.written_bytes, event.packet_size, event.loss_bits);
    using Kind = BufferEvent::Kind;
    if (event.kind == Kind::kErased || event.kind == Kind::kPatched || event.kind == Kind::kFolded)
      Add(event.payload);
    if (event.sent == nullptr) return;
    text += event.sent->more ? " more" : " last";
    for (const Patch& patch : event.sent->patches) {
      text += fmt::format(" at {}", patch.offset);
      Add(Bytes(patch.data, kPatchSize));
    }
  }
  void AddStats(BufferId id) {
    if (!buffers_.contains(id)) return;
    const BufferStats& stats = buffers_.at(id)->engine->stats();
    text += fmt::format(" {} {} {} {}", stats.bytes_written, stats.bytes_read, stats.patches_failed,
                        stats.abi_violations);
  }

  std::map<BufferId, const SessionBuffer*> buffers_;
};

/// Plays sections some time after they were put.
class LateRunner : public TapeRunner {
 public:
  explicit LateRunner(TapePlayer& player) : player_(player) {}

  std::unique_ptr<TapeSection> Take() override {
    if (played_.empty()) return std::make_unique<TapeSection>();
    std::unique_ptr<TapeSection> section = std::move(played_.back());
    played_.pop_back();
    return section;
  }
  Status Put(std::unique_ptr<TapeSection> section) override {
    waiting_.push_back(std::move(section));
    ++sections;
    if (waiting_.size() > 7) PlayOne();
    return status_;
  }
  Status Wait() override {
    while (!waiting_.empty()) PlayOne();
    return status_;
  }

  size_t sections = 0;

 private:
  void PlayOne() {
    if (status_) status_ = player_.Play(*waiting_.front());
    waiting_.front()->Clear();
    played_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }

  TapePlayer& player_;
  std::deque<std::unique_ptr<TapeSection>> waiting_;
  std::vector<std::unique_ptr<TapeSection>> played_;
  Status status_;
};

std::vector<StoredOp> OpsOf(uint32_t seed, Conduct conduct, StreamMode mode) {
  RandomStream random(seed, conduct, mode);
  std::vector<StoredOp> ops = {SetUpOf(random.traits().size, random.traits().policy)};
  for (int i = 0; i < 300; ++i) ops.push_back(OpOf(random.Next()));
  return ops;
}

Status ReplayOps(const std::vector<StoredOp>& ops, const char* engine, ReplayListeners listeners) {
  ReplayOptions options;
  options.session.all.engine = engine;
  Replay replay(options, std::move(listeners));
  for (const StoredOp& stored : ops) {
    // Bytes of an operation are there until the next one is read.
    const StoredOp copy(stored.op());
    RS_RETURN_IF_ERROR(replay.Apply(copy.op()));
  }
  RS_RETURN_IF_ERROR(replay.Finish());
  return replay.Drain();
}

class TapeTest : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Engines, TapeTest, ::testing::Values("v1", "v2@54", "v2@58"));

TEST_P(TapeTest, ListenersHearTheSame) {
  size_t sections = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const auto conduct = seed % 2 == 0 ? Conduct::kCorrect : Conduct::kHostile;
    const auto mode = static_cast<StreamMode>(seed / 2 % kEnumNames<StreamMode>.size());
    const std::vector<StoredOp> ops = OpsOf(seed, conduct, mode);

    Hearing expected;
    Ledger ledger(expected);
    ASSERT_TRUE(ReplayOps(ops, GetParam(), {&ledger, &expected}));

    Hearing heard;
    Ledger later(heard);
    TapePlayer player(&later, {&heard});
    LateRunner runner(player);
    TapeRecorder recorder(player, runner, /*steps=*/20);
    ASSERT_TRUE(ReplayOps(ops, GetParam(), recorder));
    ASSERT_TRUE(recorder.Finish());
    ASSERT_EQ(heard.text, expected.text);
    ASSERT_EQ(later.Check(), "");
    sections += runner.sections;
  }
  EXPECT_GT(sections, 1000u);
}

/// Fails at a packet.
class Failing : public ReplayListener {
 public:
  Status OnPacket(const SessionPacket&) override {
    if (++packets < 5) return {};
    return Fail(ErrorCode::kIo, "no space is left");
  }
  int packets = 0;
};

TEST(Tape, AListenersError_EndsTheReplay) {
  const std::vector<StoredOp> ops = OpsOf(4, Conduct::kCorrect, StreamMode::kMixed);
  Failing failing;
  TapePlayer player(nullptr, {&failing});
  LateRunner runner(player);
  TapeRecorder recorder(player, runner, /*steps=*/20);
  const Status status = ReplayOps(ops, "v2@58", recorder);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "no space is left");
  EXPECT_EQ(failing.packets, 5);
  EXPECT_FALSE(recorder.Finish());
}

}  // namespace
}  // namespace ringscope
