#include "core/log/configured_ops.h"

#include <gmock/gmock.h>

#include <deque>

#include "core/testing/message_text.h"
#include "core/testing/ops_in_memory.h"
#include "core/testing/session_log.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A TraceConfig message of buffers (KiB), and of data sources with their target buffers.
std::string Config(std::vector<uint64_t> sizes,
                   std::vector<std::pair<std::string, uint64_t>> sources = {}) {
  std::string config;
  for (const uint64_t size : sizes) config += Sub(1, Uint(1, size));
  for (const auto& [name, target] : sources)
    config += Sub(2, Sub(1, Sub(1, name) + Uint(2, target)));
  return config;
}
Op ConfigOp(std::string config) { return {.time_ns = {}, .body = TraceConfigRecord{config, {}}}; }
Op SourceOp(uint16_t producer, std::string name, uint16_t buffer) {
  return {.time_ns = {},
          .body = DataSourceSetUp{ProducerId{producer}, 1, std::move(name), BufferId{buffer}}};
}

class ConfiguredOpsTest : public ::testing::Test {
 protected:
  ConfiguredOpsTest() {
    for (const uint16_t buffer : {uint16_t{4}, uint16_t{3}})
      requests_.emplace_back(1).Move(buffer, Chunk(1, 1, buffer).Whole(2, 'h'));
  }
  /// A line for each record: "buffer 3: 8192 ring_buffer", "to 3", "read 3", "config", "other".
  static std::vector<std::string> Read(std::vector<Op> ops, SessionConfig config) {
    OpsInMemory source(std::move(ops));
    ConfiguredOps changed(source, std::move(config));
    std::vector<std::string> lines;
    const auto id = [](BufferId buffer) { return std::to_string(Raw(buffer)); };
    while (true) {
      const Result<std::optional<Op>> next = changed.Next();
      if (!next) lines.push_back(next.error().message);
      if (!next || !*next) return lines;
      const OpBody& body = (*next)->body;
      std::string line = "other";
      if (const auto* setup = std::get_if<BufferSetUp>(&body))
        line = "buffer " + id(setup->id) + ": " + std::to_string(setup->size) + " " +
               Name(setup->policy);
      if (const auto* read = std::get_if<ReadPass>(&body)) line = "read " + id(*read->buffer);
      if (std::holds_alternative<TraceConfigRecord>(body)) line = "config";
      if (const auto* setup = std::get_if<DataSourceSetUp>(&body))
        line = setup->name + " in " + id(setup->target_buffer);
      if (const auto* commit = std::get_if<Commit>(&body)) {
        CommitRequestParser parser;
        parser.Parse(commit->request);
        line = "to";
        for (const ChunkToMove& chunk : parser.chunks())
          line += " " + std::to_string(*chunk.target_buffer);
        for (const ChunkToPatch& patch : parser.patches())
          line += " patch " + std::to_string(*patch.target_buffer);
      }
      lines.push_back(line);
    }
  }
  std::deque<Request> requests_;
  const std::string two_ = Sub(1, Uint(1, 8)) + Sub(1, Uint(1, 4) + Uint(4, 2));
};

TEST_F(ConfiguredOpsTest, TheConfigsBuffersBeginWithTheLowestThatIsNamed) {
  const Op writer{.time_ns = {}, .body = WriterRegistered{ProducerId{1}, WriterId{1}, BufferId{3}}};
  EXPECT_THAT(Read({writer, requests_[0].op(), requests_[1].op()}, {.config = two_}),
              ElementsAre("other", "config", "buffer 3: 8192 ring_buffer", "buffer 4: 4096 discard",
                          "to 4", "to 3"));
}

TEST_F(ConfiguredOpsTest, ASizeMakesABuffer) {
  EXPECT_THAT(Read({requests_[0].op()}, {.config = {}, .sizes = {{BufferId{4}, 64}}}),
              ElementsAre("buffer 4: 64 ring_buffer", "to 4"));
}

TEST_F(ConfiguredOpsTest, TheLogsBuffersAreAsTheConfigHasThem) {
  EXPECT_THAT(
      Read({BufferOp(3), BufferOp(4), requests_[0].op()}, {.config = two_}),
      ElementsAre("config", "buffer 3: 8192 ring_buffer", "buffer 4: 4096 discard", "to 4"));
  EXPECT_THAT(Read({ConfigOp(Config({4, 4})), BufferOp(3), BufferOp(4)}, {.config = two_}),
              ElementsAre("config", "buffer 3: 8192 ring_buffer", "buffer 4: 4096 discard"));
}

// A live log has a buffer where the first data source that writes to it is set up.
TEST_F(ConfiguredOpsTest, ABufferThatIsSetUpLater_IsAsTheConfigHasIt) {
  const std::vector<std::pair<std::string, uint64_t>> sources = {{"a", 0}, {"b", 1}};
  const std::vector<Op> ops = {ConfigOp(Config({4, 4}, sources)),
                               BufferOp(3),
                               SourceOp(1, "a", 3),
                               BufferOp(4),
                               SourceOp(1, "b", 4),
                               requests_[0].op(),
                               {.time_ns = {}, .body = ReadPass{.buffer = BufferId{3}}},
                               {.time_ns = {}, .body = ReadPass{.buffer = BufferId{4}}}};
  EXPECT_THAT(Read(ops, {.config = Config({4, 16}, sources)}),
              ElementsAre("config", "buffer 3: 4096 ring_buffer", "buffer 4: 16384 ring_buffer",
                          "a in 3", "b in 4", "to 4", "read 3", "read 4"));
}

TEST_F(ConfiguredOpsTest, WithoutAConfig_TheMappingOfFurtherBuffersIsUnknown) {
  EXPECT_THAT(Read({BufferOp(3), requests_[1].op()}, {.config = two_}),
              ElementsAre("config", "buffer 3: 8192 ring_buffer",
                          HasSubstr("has 2 buffers and the session 1")));
}

TEST_F(ConfiguredOpsTest, DataSourcesWriteToTheirNewBuffer) {
  const std::vector<Op> ops = {ConfigOp(Config({4}, {{"a", 0}, {"b", 0}})),
                               BufferOp(3),
                               SourceOp(1, "a", 3),
                               SourceOp(2, "b", 3),
                               requests_[1].op(),
                               {.time_ns = {}, .body = ReadPass{.buffer = BufferId{3}}}};
  EXPECT_THAT(Read(ops, {.config = Config({4, 16}, {{"a", 1}, {"b", 0}})}),
              ElementsAre("config", "buffer 3: 4096 ring_buffer", "buffer 4: 16384 ring_buffer",
                          "a in 4", "b in 3", "to 4", "read 3", "read 4"));
}

TEST_F(ConfiguredOpsTest, PatchesFollowTheirChunks_AndABufferThatNothingTargetsIsGone) {
  Request request(1);
  request.Move(4, Chunk(1, 1, 0).Whole(4, 'a').NeedsPatching()).Patch(4, 1, 0, 1, "\x12\x02\x08");
  EXPECT_THAT(Read({ConfigOp(Config({4, 4}, {{"a", 1}})),
                    BufferOp(3),
                    BufferOp(4),
                    SourceOp(1, "a", 4),
                    request.op(),
                    {.time_ns = {}, .body = ReadPass{.buffer = BufferId{4}}}},
                   {.config = Config({4}, {{"a", 0}})}),
              ElementsAre("config", "buffer 3: 4096 ring_buffer", "a in 3", "to 3 patch 3"));
}

TEST_F(ConfiguredOpsTest, WhatTheLogDoesNotShow_IsAnError) {
  const auto read = [&](std::vector<std::pair<std::string, uint64_t>> sources) {
    return Read({ConfigOp(Config({4}, {{"a", 0}, {"b", 0}})), BufferOp(3), SourceOp(1, "a", 3),
                 SourceOp(1, "b", 3)},
                {.config = Config({4, 16}, std::move(sources))})
        .back();
  };
  EXPECT_THAT(read({{"a", 0}, {"b", 1}}), HasSubstr("moves only some of what producer 1 writes"));
  EXPECT_EQ(read({{"a", 1}, {"b", 1}}), "b in 4");
  EXPECT_THAT(read({{"a", 0}}), HasSubstr("has no data source 'b'"));
  EXPECT_THAT(read({{"a", 2}, {"b", 2}}), HasSubstr("targets buffers[2]"));
}

TEST_F(ConfiguredOpsTest, OtherReads_AreAnErrorIfTheyMustBeTheSame) {
  const std::string streamed = Config({4}) + Uint(8, 1);
  SessionConfig config{.config = streamed, .expects_same_reads = true};
  EXPECT_THAT(Read({ConfigOp(Config({4}))}, config), ElementsAre(HasSubstr("at other times")));
  EXPECT_THAT(Read({ConfigOp(streamed)}, config), ElementsAre("config"));
}

}  // namespace
}  // namespace ringscope::testing
