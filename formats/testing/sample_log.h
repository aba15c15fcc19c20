#ifndef RINGSCOPE_FORMATS_TESTING_SAMPLE_LOG_H_
#define RINGSCOPE_FORMATS_TESTING_SAMPLE_LOG_H_

#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/wire.h"
#include "core/log/op.h"
#include "core/perfetto/commit_request.h"
#include "formats/inputs/open_log.h"
#include "formats/io/log_source.h"
#include "formats/log/commit_log_writer.h"
#include "formats/testing/same_op.h"
#include "formats/testing/string_sink.h"

namespace ringscope::testing {

/// Records that own what they point to.
class OpList {
 public:
  OpList& Add(Op op) {
    if (auto* commit = std::get_if<Commit>(&op.body)) {
      storage_.push_back(std::make_shared<const std::string>(wire::AsText(commit->request)));
      commit->request = wire::AsBytes(*storage_.back());
    }
    ops_.push_back(std::move(op));
    return *this;
  }
  OpList& Add(std::optional<uint64_t> time_ns, OpBody body) {
    return Add(Op{time_ns, std::move(body)});
  }
  const std::vector<Op>& ops() const { return ops_; }
  size_t size() const { return ops_.size(); }
  const Op& operator[](size_t i) const { return ops_[i]; }

 private:
  std::vector<Op> ops_;
  std::vector<std::shared_ptr<const std::string>> storage_;
};

inline bool SameOps(const OpList& a, const OpList& b) {
  return std::ranges::equal(a.ops(), b.ops(), SameOp);
}

/// A request with one chunk whose payload is `size` bytes that do not compress.
inline std::string ChunkRequest(uint16_t writer, uint32_t chunk, size_t size,
                                uint16_t fragments = 1) {
  std::string payload(size, '\0');
  uint32_t state = chunk * 2654435761u + writer + 1;
  for (char& byte : payload) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<char>(state >> 24);
  }
  std::string request;
  CommitRequestBuilder(request).AddChunk(
      BufferId{1}, {ChunkId{chunk}, WriterId{writer}, fragments, 0}, wire::AsBytes(payload), true);
  return request;
}

inline Commit CommitOf(const std::string& request, uint16_t producer = 1) {
  Commit commit;
  commit.producer = ProducerId{producer};
  commit.request = wire::AsBytes(request);
  return commit;
}

inline LogHeader HeaderOf(std::string uuid, uint32_t part = 0) {
  LogHeader header;
  header.tool = "test 1";
  header.uuid = std::move(uuid);
  header.part = part;
  return header;
}

/// Bytes of a frame, few enough for several in a small session.
inline constexpr size_t kCheckedFrame = 300;

/// A session of `commits` commits; with a frame size of 300 bytes each makes a frame.
inline OpList SmallSession(size_t commits, const std::string& uuid = "a") {
  OpList ops;
  ops.Add(1000, HeaderOf(uuid));
  ops.Add(1001, BufferSetUp{BufferId{1}, 0, 65536, FillPolicy::kRingBuffer, "v2@58"});
  for (size_t i = 0; i < commits; ++i) {
    const std::string request = ChunkRequest(7, static_cast<uint32_t>(i), 200);
    ops.Add(2000 + i, CommitOf(request));
  }
  return ops;
}

/// Every kind of record, with all fields set, and with none.
inline OpList EveryKind() {
  OpList ops;
  LogHeader header = HeaderOf("00112233445566778899aabbccddeeff", 3);
  header.source = Origin::kSynthetic;
  header.first_part = 3;
  header.repeated_records = 1;
  header.host = "Linux";
  header.clock = "boottime";
  header.description = "all \xff bytes";
  ops.Add(5, header);
  ops.Add(6, SessionStarted{UINT64_MAX, "name"});
  ops.Add(7, SessionEnded{1});
  ops.Add(8, TraceConfigRecord{std::string("\0\1", 2), 5});
  ops.Add(9, BufferSetUp{BufferId{65535}, 7, UINT64_MAX, FillPolicy::kDiscard, "v2@54", 5});
  ops.Add(10, BufferFreed{BufferId{2}});
  ops.Add(11, ClockSnapshotRecord{"snapshot"});
  ops.Add(12, ProducerConnected{ProducerId{65535}, UINT32_MAX, -1, 0, INT32_MIN, "name", 2, "sdk",
                                uint64_t{1} << 40, 4096, UINT32_MAX, UINT64_MAX, 8192});
  ops.Add(13, SharedMemorySetUp{ProducerId{1}, 0, 4096, true});
  ops.Add(14, ProducerDisconnected{ProducerId{1}});
  ops.Add(15, DataSourceRegistered{ProducerId{1}, "ds", true, true, true, true, "program"});
  ops.Add(16, DataSourceSetUp{ProducerId{1}, 9, "ds", BufferId{3}, 5, "config"});
  ops.Add(17, DataSourceStopped{ProducerId{1}, 9});
  ops.Add(18, WriterRegistered{ProducerId{1}, WriterId{2}, BufferId{3}});
  ops.Add(19, WriterUnregistered{ProducerId{1}, WriterId{2}});
  std::string request = ChunkRequest(2, 7, 100);
  Commit commit = CommitOf(request, 65535);
  commit.uid = UINT32_MAX;
  commit.pid = -1;
  commit.origin = Origin::kScraped;
  commit.number = 77;
  commit.part = 2;
  commit.last = false;
  ops.Add(UINT64_MAX, commit);
  ops.Add(21, FlushRequested{3, ProducerId{0}, {0, 9}, 0x121});
  ops.Add(22, FlushAcknowledged{ProducerId{1}, 3});
  ops.Add(23, FlushTimedOut{3});
  ops.Add(24, ReadPass{BufferId{0}, 0, 32768, ReadReason::kFinal, 5});
  ops.Add(25, CloneRead{BufferId{3}});
  ops.Add(26, RecorderGap{"slow", ProducerId{4}, 1, 2, 3, 4, WriterId{5}, 6});
  ops.Add(27, Note{"note"});
  ops.Add(28, SessionChanged{2, SessionChange::kFileNamed, "/data/trace"});
  ops.Add(29, DataSourceUnregistered{ProducerId{1}, "ds"});
  ops.Add(30, DataSourceStarted{ProducerId{1}, 9});
  ops.Add(31, DataSourceNotified{ProducerId{1}, 9, true});
  ops.Add(32, StateClearRequested{ProducerId{1}, {9, UINT64_MAX}});
  ops.Add(33, TriggerActivated{ProducerId{1}, "trigger"});
  ops.Add(34, CloneRequested{1, 2, "request"});
  ops.Add(35, BufferCloned{1, BufferId{3}, true});
  ops.Add(36, BufferCleared{BufferId{3}});
  ops.Add(37, CloneEnded{1, true, "error", true, 3});
  ops.Add(38, RecordingEnded{
                  RecordingEnding::kSignal,
                  1,
                  2,
                  UINT64_MAX,
                  {{InexactReason::kReads, 2, 1, ""}, {InexactReason::kOrder, 1, {}, "detail"}}});
  ops.Add(38, Inexact{InexactReason::kUnhandled, 2, ProducerId{1}, "detail", 3});
  ops.Add(39, ServiceChanged{true});
  ops.Add(40, ClonePass{1, 32768});
  ops.Add(41, ProtoVmSetUp{BufferId{3}, ProducerId{1}, "ds", "program", UINT32_MAX, "state"});
  ops.Add(42, ProtoVmStates{BufferId{3}});
  ops.Add(43, SharedMemoryLook{ProducerId{1}, 3, true, 41, std::string("\0\1\x31\2\0", 5)});
  // The same kinds, empty.
  ops.Add(std::nullopt, HeaderOf("other"));
  ops.Add(std::nullopt, SessionStarted{});
  ops.Add(std::nullopt, TraceConfigRecord{});
  ops.Add(std::nullopt, BufferSetUp{});
  ops.Add(std::nullopt, ProducerConnected{});
  ops.Add(std::nullopt, Commit{});
  ops.Add(0, FlushRequested{});
  ops.Add(std::nullopt, ReadPass{});
  ops.Add(std::nullopt, RecorderGap{});
  ops.Add(std::nullopt, Note{});
  return ops;
}

inline void AppendAll(const OpList& ops, CommitLogWriter& writer) {
  for (const Op& op : ops.ops()) {
    const Status status = writer.Append(op);
    EXPECT_TRUE(status) << status.error().ToString();
  }
}

/// @param close without it the log is what a recorder that was killed leaves
inline std::string WriteLog(const OpList& ops, size_t frame_bytes = size_t{1} << 20,
                            bool close = true, unsigned threads = 0) {
  StringSink sink;
  const auto writer =
      CommitLogWriter::Create(sink, {.frame_bytes = frame_bytes, .threads = threads}).value();
  AppendAll(ops, *writer);
  EXPECT_TRUE(close ? writer->Close() : writer->Flush());
  EXPECT_EQ(writer->bytes_written(), sink.text.size());
  return sink.text;
}

/// What a reader made of a log.
struct ReadBack {
  OpList ops;
  std::vector<uint64_t> numbers;
  std::vector<Damage> damage;
  std::optional<Error> error;
};

inline ReadBack ReadAllRecords(LogSource& log) {
  ReadBack back;
  for (;;) {
    auto op = log.Next();
    if (!op) {
      back.error = op.error();
      break;
    }
    if (!*op) break;
    back.ops.Add(**op);
    back.numbers.push_back(log.record_number());
  }
  back.damage = log.damage();
  return back;
}

inline ReadBack ReadLog(std::string bytes) {
  auto log = OpenLog(MakeMemorySource(std::move(bytes)));
  if (!log) {
    ReadBack back;
    back.error = log.error();
    return back;
  }
  return ReadAllRecords(**log);
}

/// The log was read whole: these records, numbered from 0.
inline void ExpectWhole(const ReadBack& back, const OpList& ops) {
  EXPECT_TRUE(SameOps(ops, back.ops));
  EXPECT_TRUE(back.damage.empty());
  std::vector<uint64_t> numbers(ops.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  EXPECT_EQ(back.numbers, numbers);
}

/// Where frames begin in an intact log, its end included.
inline std::vector<size_t> FrameOffsets(const std::string& log) {
  std::vector<size_t> offsets = {0};
  while (offsets.back() < log.size()) {
    const size_t at = offsets.back();
    const size_t size = ZSTD_findFrameCompressedSize(log.data() + at, log.size() - at);
    if (ZSTD_isError(size)) {
      ADD_FAILURE() << "no frame at byte " << at;
      break;
    }
    offsets.push_back(at + size);
  }
  return offsets;
}

}  // namespace ringscope::testing

#endif  // RINGSCOPE_FORMATS_TESTING_SAMPLE_LOG_H_
