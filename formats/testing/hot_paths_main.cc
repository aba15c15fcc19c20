// hot_paths: runs each hot path on fixed input, for scripts/instruction-counts, which runs it under
// callgrind. Only what a path itself does is counted, not its set-up. Prints the compiler and the
// build, then a path's name and how many operations were counted; callgrind's dumps have the names.

#include <fmt/format.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif

#include "core/base/wire.h"
#include "core/engine/catalogue.h"
#include "core/log/summary.h"
#include "core/perfetto/commit_request.h"
#include "core/session/replay.h"
#include "core/session/session.h"
#include "formats/log/record_codec.h"
#include "formats/ops/ops_jsonl.h"

namespace ringscope {
namespace {

constexpr uint64_t kRing = uint64_t{4} << 20;
constexpr uint32_t kOperations = 2048;  // commits: more than the ring holds
constexpr uint32_t kManyWriters = 1000;

/// Counts what `run` does, `operations` times some path.
template <typename F>
void Count(const char* name, uint64_t operations, F run) {
#ifdef CALLGRIND_START_INSTRUMENTATION
  CALLGRIND_START_INSTRUMENTATION;
  run();
  CALLGRIND_STOP_INSTRUMENTATION;
  CALLGRIND_DUMP_STATS_AT(name);
#else
  run();
#endif
  fmt::print("path {} {}\n", name, operations);
}

/// A chunk of 5 to 15 whole packets of 50 to 500 bytes, in at most 4080 bytes; always the same.
struct Payload {
  std::string bytes;
  uint16_t fragments = 0;
};

std::vector<Payload> MakePayloads() {
  std::mt19937 random(1);
  std::vector<Payload> payloads(256);
  for (Payload& payload : payloads) {
    const auto count = 5 + random() % 11;
    for (uint32_t i = 0; i < count; ++i) {
      const auto size = 50 + random() % 451;
      if (payload.bytes.size() + size + 2 > 4080) break;
      wire::AppendVarint(payload.bytes, size);
      payload.bytes.append(size, static_cast<char>('a' + i));
      ++payload.fragments;
    }
  }
  return payloads;
}

/// A stream of chunks, round robin over some writers.
class Stream {
 public:
  explicit Stream(uint32_t writers) : writers_(writers) {}

  void CommitNext(Engine& engine) {
    const Payload& payload = payloads_[next_ % payloads_.size()];
    engine.Commit({.sequence = {ProducerId{1}, Writer()},
                   .identity = {},
                   .chunk = ChunkId{next_ / writers_},
                   .fragments = payload.fragments,
                   .flags = 0,
                   .complete = true,
                   .payload = wire::AsBytes(payload.bytes)});
    ++next_;
  }
  void CommitNext(Engine& engine, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) CommitNext(engine);
  }
  /// Until all further commits evict, and all writers have committed.
  void Fill(Engine& engine) { CommitNext(engine, 3 * kOperations); }

  /// The same as a record, with a patch for the chunk that its writer committed before.
  std::string NextRecord() {
    const Payload& payload = payloads_[next_ % payloads_.size()];
    const ChunkId chunk{next_ / writers_};
    std::string request;
    CommitRequestBuilder builder(request);
    builder.AddChunk(BufferId{1}, {chunk, Writer(), payload.fragments, 0},
                     wire::AsBytes(payload.bytes), true);
    ChunkToPatch patch{
        .target_buffer = 1, .writer = Raw(Writer()), .chunk = Raw(chunk) - 1, .patches = {}};
    patch.patches.push_back({.offset = 20, .data = wire::AsBytes("aaaa")});
    builder.AddPatch(patch);
    Commit commit;
    commit.producer = ProducerId{1};
    commit.request = wire::AsBytes(request);
    std::string record;
    commit_log::AppendRecord({.time_ns = 1'000'000'000 + next_, .body = commit}, next_, record);
    ++next_;
    wire::FieldReader reader(wire::AsBytes(record));  // without its tag and length
    return std::string(wire::AsText(reader.Next()->bytes));
  }

  uint32_t next() const { return next_; }

 private:
  WriterId Writer() const { return WriterId{static_cast<uint16_t>(1 + next_ % writers_)}; }

  const std::vector<Payload> payloads_ = MakePayloads();
  const uint32_t writers_;
  uint32_t next_ = 0;
};

std::unique_ptr<Engine> MakeEngine(const char* name, uint64_t size = kRing,
                                   EngineObserver* observer = nullptr) {
  return FindEngine(name).value()->create({.size = size, .observer = observer}).value();
}

void CountCommits(const char* name, const char* engine_name, uint32_t writers,
                  EngineObserver* observer = nullptr) {
  const auto engine = MakeEngine(engine_name, kRing, observer);
  Stream stream(writers);
  stream.Fill(*engine);
  Count(name, kOperations, [&] { stream.CommitNext(*engine, kOperations); });
}

void CountCommitsWithoutEviction() {
  const auto engine = MakeEngine("v2@58", 4 * kRing);
  Stream stream(1);
  Count("v2_commit_not_full", kOperations, [&] { stream.CommitNext(*engine, kOperations); });
}

/// @param back chunks from the last one; 0: a chunk that is not there
void CountPatches(const char* name, const char* engine_name, uint32_t back) {
  const auto engine = MakeEngine(engine_name);
  Stream stream(1);
  stream.Fill(*engine);
  const uint8_t data[kPatchSize] = {'a', 'a', 'a', 'a'};
  const Patch patch{.offset = 16, .data = data};
  const ChunkPatches patches{.sequence = {ProducerId{1}, WriterId{1}},
                             .chunk = ChunkId{back == 0 ? 1 : stream.next() - back},
                             .patches = {&patch, 1},
                             .more = false};
  Count(name, kOperations, [&] {
    for (uint32_t i = 0; i < kOperations; ++i) engine->ApplyPatches(patches);
  });
}

/// Per packet.
void CountRead(const char* name, const char* engine_name, uint32_t writers) {
  const auto engine = MakeEngine(engine_name);
  Stream stream(writers);
  stream.Fill(*engine);
  uint64_t packets = 0;
  {
    const auto same = MakeEngine(engine_name);
    Stream again(writers);
    again.Fill(*same);
    same->BeginRead();
    while (same->NextPacket() != nullptr) ++packets;
  }
  Count(name, packets, [&] {
    engine->BeginRead();
    while (engine->NextPacket() != nullptr) continue;
  });
}

/// Adds up what the events are about.
class EventBytes : public ReplayListener {
 public:
  void OnBufferEvent(const BufferEvent& event) override {
    if (const ObservedChunk* chunk = event.arrived()) bytes += chunk->outer_size;
  }
  uint64_t bytes = 0;
};

void CountEngines() {
  CountCommitsWithoutEviction();
  CountCommits("v2_commit_one_writer", "v2@58", 1);
  CountCommits("v2_commit_many_writers", "v2@58", kManyWriters);
  EventBytes events;
  const ReplayListeners listeners(events);
  const LogMoment now;
  BufferObserver observer(BufferId{1}, now, listeners);
  CountCommits("v2_commit_observed", "v2@58", kManyWriters, &observer);
  CountPatches("v2_patch_last", "v2@58", 1);
  CountPatches("v2_patch_10th_from_end", "v2@58", 10);
  CountPatches("v2_patch_absent", "v2@58", 0);
  CountRead("v2_read_one_writer", "v2@58", 1);
  CountRead("v2_read_many_writers", "v2@58", kManyWriters);
  CountCommits("v1_commit_one_writer", "v1", 1);
  CountCommits("v1_commit_many_writers", "v1", kManyWriters);
  CountPatches("v1_patch_last", "v1", 1);
  CountRead("v1_read_one_writer", "v1", 1);
}

/// What becomes of each record between decompression and engine, and on the way back.
void CountRecords() {
  Stream stream(20);
  std::vector<std::string> records;
  for (uint32_t i = 0; i < kOperations; ++i) records.push_back(stream.NextRecord());
  std::vector<Op> ops;
  ops.reserve(records.size());
  Count("record_decode", kOperations, [&] {
    for (const std::string& record : records)
      ops.push_back(*commit_log::DecodeRecord(wire::AsBytes(record)).value());
  });
  CommitRequestParser parser;
  Count("request_parse", kOperations, [&] {
    for (const Op& op : ops) parser.Parse(std::get<Commit>(op.body).request);
  });
  std::string out;
  out.reserve(size_t{16} << 20);
  Count("record_encode", kOperations, [&] {
    for (const Op& op : ops) commit_log::AppendRecord(op, {}, out);
  });
  LogSummaryBuilder summary;
  uint64_t number = 0;
  Count("record_summary", kOperations, [&] {
    for (const Op& op : ops) summary.Add(op, number++);
  });
  ReplayListener sink;
  Replay replay({}, sink);
  BufferSetUp buffer;
  buffer.id = BufferId{1};
  buffer.size = kRing;
  buffer.engine = "v2@58";
  static_cast<void>(replay.Apply({.time_ns = {}, .body = buffer}));
  ProducerConnected producer;
  producer.producer = ProducerId{1};
  static_cast<void>(replay.Apply({.time_ns = {}, .body = producer}));
  Count("record_replay", kOperations, [&] {
    for (const Op& op : ops) static_cast<void>(replay.Apply(op));
  });
  OpLineWriter writer;
  std::string line;
  Count("record_to_text", kOperations, [&] {
    for (const Op& op : ops) {
      line.clear();
      writer.Append(op, line);
    }
  });
  std::vector<std::string> lines;
  for (const Op& op : ops) lines.push_back(FormatOp(op));
  std::string storage;
  Count("record_from_text", kOperations / 8, [&] {
    for (uint32_t i = 0; i < kOperations / 8; ++i) static_cast<void>(ParseOp(lines[i], storage));
  });
}

}  // namespace
}  // namespace ringscope

int main() {
#ifndef CALLGRIND_START_INSTRUMENTATION
  fmt::print("without valgrind/callgrind.h\n");
#endif
  fmt::print("compiler {}\nbuild {}\n", RS_COMPILER, RS_BUILD);
  ringscope::CountEngines();
  ringscope::CountRecords();
}
