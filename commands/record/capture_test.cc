// A real session's traffic, frame by frame and with its shared memory, through the recorder: what
// reaches the service and what is logged must be what a recording of that session has.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "commands/testing/ipc_peer.h"
#include "commands/testing/recorder_run.h"
#include "commands/testing/service_end.h"
#include "core/perfetto/commit_request.h"
#include "formats/io/hex.h"
#include "formats/log/commit_log_writer.h"
#include "formats/ops/ops_jsonl.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/replay_to_trace.h"
#include "formats/testing/string_sink.h"
#include "formats/testing/testdata.h"
#include "formats/testing/trace_content.h"

namespace ringscope::testing {
namespace {

constexpr size_t kSmbBytes = 131072;  // as the recorded images are

std::string FromHex(const Json& hex) {
  std::string bytes;
  EXPECT_TRUE(DecodeHex(hex.get<std::string>(), bytes));
  return bytes;
}

std::string WithPrefix(const std::string& message) {
  std::string frame;
  for (int i = 0; i < 4; ++i) frame += static_cast<char>(message.size() >> (8 * i));
  return frame + message;
}

/// A step of the session: a frame, with what must be in shared memory before, and what must reach
/// the service in its place or ahead of it.
struct Step {
  bool consumer = false;
  bool from_client = false;
  bool with_fd = false;
  uint64_t time = 0;
  std::string frame;
  std::vector<Json> memory;
  std::optional<std::string> edited;
  std::vector<std::string> injected;
};

void ReadSteps(const std::string& file, bool consumer, std::vector<Step>& steps) {
  const std::string text = ReadTestdata("captures/short-v2/" + file);
  std::vector<Json> memory;
  for (const std::string_view line : Lines(text)) {
    const Json entry = testing::ParsedJson(line);
    if (!entry.contains("dir")) {
      memory.push_back(entry);
      continue;
    }
    const std::string dir = entry["dir"];
    if (dir == "to_service") {
      const std::string frame = WithPrefix(FromHex(entry["frame"]));
      if (entry["why"] == "edited") {
        steps.back().edited = frame;
      } else {
        steps.back().injected.push_back(frame);
      }
      continue;
    }
    Step& step = steps.emplace_back();
    step.consumer = consumer;
    step.from_client = dir == "client";
    step.with_fd = entry["fd"];
    step.time = entry["ts"];
    step.frame = WithPrefix(FromHex(entry["frame"]));
    step.memory = std::exchange(memory, {});
  }
}

std::vector<Step> ReadSession() {
  std::vector<Step> steps;
  ReadSteps("frames.jsonl.zst", false, steps);
  ReadSteps("consumer_frames.jsonl.zst", true, steps);
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.time < b.time; });
  return steps;
}

void SetMemory(const TestMemory& memory, const Json& entry) {
  const auto put = [&](size_t offset, const std::string& bytes) {
    ASSERT_LE(offset + bytes.size(), memory.size());
    std::memcpy(memory.data() + offset, bytes.data(), bytes.size());
  };
  if (entry.contains("smb_image")) return put(0, FromHex(entry["smb_image"]));
  const size_t page = entry["smb"];
  put(page, FromHex(entry["page_header"]));
  const std::string bytes = FromHex(entry["bytes"]);
  put(page + 8 + entry["chunk"].get<size_t>() * bytes.size(), bytes);
}

/// Who talks in the session.
struct Actors {
  explicit Actors(RecorderOptions& options)
      : producer_service(Listener::Create(UniqueSocketName("service"), 0600).value()),
        consumer_service(Listener::Create(UniqueSocketName("service"), 0600).value()) {
    options.producer = {UniqueSocketName("listen"), producer_service.name()};
    options.consumer = {UniqueSocketName("listen"), consumer_service.name()};
  }
  void Join(const RecorderOptions& options) {
    producer.emplace(ConnectPeer(options.producer.listen));
    producers_service.emplace(AcceptPeer(producer_service));
    consumer.emplace(ConnectPeer(options.consumer->listen));
    consumers_service.emplace(AcceptPeer(consumer_service));
  }

  Listener producer_service;
  Listener consumer_service;
  std::optional<BlockingPeer> producer, consumer;
  std::optional<ServiceEnd> producers_service, consumers_service;
  TestMemory memory{kSmbBytes, /*sealed=*/true};
};

/// What of a request's frame must be equal; ids of added requests are the recorder's own.
struct Request {
  uint64_t service, method;
  std::string args;
  bool drop_reply;
  friend bool operator==(const Request&, const Request&) = default;
};
Request RequestIn(const std::string& frame) {
  const auto parsed = ipc::ParseFrame(wire::AsBytes(frame)).value();
  const auto& invoke = std::get<ipc::InvokeMethod>(parsed.body);
  return {invoke.service, invoke.method, std::string(wire::AsText(invoke.args)), invoke.drop_reply};
}

template <typename Peer>
std::string NextFrame(Peer& peer, size_t expected_fds) {
  auto frame = peer.Read();
  EXPECT_TRUE(frame) << "the frame has not arrived";
  if (!frame) return {};
  EXPECT_EQ(frame->fds.size(), expected_fds);
  return frame->bytes;
}

template <typename From, typename To>
void Pass(const Step& step, From& from, To& to, Actors& actors) {
  ASSERT_TRUE(from.Send(step.frame, step.with_fd ? actors.memory.fd() : -1));
  for (const std::string& injected : step.injected)
    ASSERT_EQ(RequestIn(NextFrame(to, 0)), RequestIn(injected));
  if (step.edited) {
    ASSERT_EQ(RequestIn(NextFrame(to, 0)), RequestIn(*step.edited));
    return;
  }
  ASSERT_EQ(NextFrame(to, step.with_fd ? 1 : 0), step.frame);
}

void Play(const Step& step, Actors& actors) {
  BlockingPeer& client = step.consumer ? *actors.consumer : *actors.producer;
  ServiceEnd& service = step.consumer ? *actors.consumers_service : *actors.producers_service;
  for (const Json& entry : step.memory) SetMemory(actors.memory, entry);
  if (step.from_client) {
    Pass(step, client, service, actors);
  } else {
    Pass(step, service, client, actors);
  }
}

/// Plays the whole session.
void PlaySession(MemoryLog& log) {
  RecorderOptions options;
  Actors actors(options);
  RecorderRun recorder(options, log);
  actors.Join(options);
  const std::vector<Step> steps = ReadSession();
  ASSERT_EQ(steps.size(), 524u + 14 + 10);
  for (const Step& step : steps) {
    Play(step, actors);
    if (::testing::Test::HasFatalFailure()) return;
  }
  actors.consumer->Close();
  EXPECT_TRUE(actors.consumers_service->ReadToEnd());
  actors.consumers_service->Close();
  ASSERT_TRUE(log.WaitFor<SessionEnded>());
  actors.producer->Close();
  EXPECT_TRUE(actors.producers_service->ReadToEnd());
  actors.producers_service->Close();
  recorder.Stop();
  EXPECT_THAT(recorder.warnings(), ::testing::IsEmpty());
}

/// What a session did to the buffers, in words; the same for all ways to write it down.
std::vector<std::string> Effects(const std::vector<Op>& ops) {
  std::vector<std::string> effects;
  CommitRequestParser parser;
  for (const Op& op : ops) {
    if (const auto* buffer = std::get_if<BufferSetUp>(&op.body)) {
      effects.push_back(
          fmt::format("buffer {} {} {}", Raw(buffer->id), buffer->size, Name(buffer->policy)));
    } else if (const auto* producer = std::get_if<ProducerConnected>(&op.body)) {
      effects.push_back(
          fmt::format("producer {} {} {}", producer->name, *producer->scraping, producer->sdk));
    } else if (const auto* writer = std::get_if<WriterRegistered>(&op.body)) {
      effects.push_back(fmt::format("writer {} {}", Raw(writer->writer), Raw(writer->buffer)));
    } else if (std::holds_alternative<ProducerDisconnected>(op.body)) {
      effects.push_back("disconnect");
    } else if (const auto* commit = std::get_if<Commit>(&op.body)) {
      EXPECT_TRUE(parser.Parse(commit->request));
      for (const ChunkToMove& chunk : parser.chunks()) {
        EXPECT_TRUE(chunk.data);
        std::string hex;
        AppendHex(hex, chunk.data.value_or(Bytes()));
        effects.push_back(fmt::format("chunk to {} {} {} {}", *chunk.target_buffer,
                                      commit->origin == Origin::kScraped ? "scraped" : "",
                                      chunk.incomplete, hex));
      }
      for (const ChunkToPatch& patch : parser.patches()) {
        std::string text =
            fmt::format("patch {} {} {} {}", *patch.target_buffer, patch.writer.value_or(0),
                        patch.chunk.value_or(0), patch.more);
        for (const PatchSpan& span : patch.patches) {
          text += fmt::format(" {}:", span.offset);
          AppendHex(text, span.data);
        }
        effects.push_back(text);
      }
    }
  }
  return effects;
}

template <typename Kind>
std::vector<Kind> OnlyOf(const std::vector<Op>& ops) {
  std::vector<Kind> all;
  for (const Op& op : ops)
    if (const auto* body = std::get_if<Kind>(&op.body)) all.push_back(*body);
  return all;
}

/// What the recording of the session has.
std::vector<Op> RecordedOps(std::deque<std::string>& storage) {
  static const std::string text = ReadTestdata("captures/short-v2/session.ops.jsonl.zst");
  std::vector<Op> ops;
  for (const std::string_view line : Lines(text))
    ops.push_back(ParseOp(line, storage.emplace_back()).value());
  return ops;
}

// Two lists of hundreds of long lines: only the first difference is worth printing.
void ExpectSameLines(const std::vector<std::string>& found,
                     const std::vector<std::string>& expected) {
  for (size_t i = 0; i < std::min(found.size(), expected.size()); ++i)
    ASSERT_EQ(found[i], expected[i]) << "line " << i;
  EXPECT_EQ(found.size(), expected.size());
}

TEST(RecordCapture, Exact_ServiceAndLogGetWhatWasRecorded) {
  MemoryLog log;
  PlaySession(log);
  if (HasFatalFailure()) return;
  std::deque<std::string> storage;
  const std::vector<Op> expected = RecordedOps(storage);
  std::vector<std::string> found = Effects(log.ops());
  // The producer was there before the session; its buffer was not.
  ASSERT_GE(found.size(), 2u);
  std::swap(found[0], found[1]);
  ExpectSameLines(found, Effects(expected));
  EXPECT_EQ(OnlyOf<FlushAcknowledged>(log.ops()), OnlyOf<FlushAcknowledged>(expected));
}

TEST(RecordCapture, Exact_ReplayEqualsTheServicesTrace) {
  MemoryLog log;
  PlaySession(log);
  if (HasFatalFailure()) return;
  StringSink sink;
  const auto writer = CommitLogWriter::Create(sink).value();
  ASSERT_TRUE(writer->Append({.time_ns = {}, .body = ImportHeader()}));
  for (const Op& op : log.ops()) ASSERT_TRUE(writer->Append(op));
  ASSERT_TRUE(writer->Close());
  const auto trace = TestdataPath("captures/short-v2/trace.pftrace.zst");
  const TraceContent expected = ReadTraceContent(OpenByteSource(trace).value()).value();
  const TraceContent found =
      ReadTraceContent(MakeMemorySource(ReplayToTrace(std::move(sink.text)))).value();
  EXPECT_EQ(TraceDifference(expected, found), "");
}

}  // namespace
}  // namespace ringscope::testing
