#include "core/log/added_buffers.h"

#include <gmock/gmock.h>

#include <deque>

#include "core/testing/ops_in_memory.h"
#include "core/testing/session_log.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;

class AddedBuffersTest : public ::testing::Test {
 protected:
  AddedBuffersTest() {
    for (const uint16_t buffer : {uint16_t{4}, uint16_t{3}})
      requests_.emplace_back(1).Move(buffer, Chunk(1, 1, buffer).Whole(2, 'h'));
  }
  /// "buffer 3: 8192", "commit"
  static std::vector<std::string> Read(std::vector<Op> ops, UnrecordedBuffers buffers) {
    OpsInMemory source(std::move(ops));
    AddedBuffers added(source, std::move(buffers));
    std::vector<std::string> lines;
    while (const std::optional<Op> op = added.Next().value()) {
      const auto* setup = std::get_if<BufferSetUp>(&op->body);
      lines.push_back(setup == nullptr
                          ? "other"
                          : "buffer " + std::to_string(Raw(setup->id)) + ": " +
                                std::to_string(setup->size) + " " + Name(setup->policy));
    }
    return lines;
  }
  std::deque<Request> requests_;
  UnrecordedBuffers config_{
      .config = {{.size_kb = 8}, {.size_kb = 4, .policy = FillPolicy::kDiscard}}, .sizes = {}};
};

TEST_F(AddedBuffersTest, TheConfigsBuffersBeginWithTheLowestThatIsNamed) {
  const Op writer{.time_ns = {}, .body = WriterRegistered{ProducerId{1}, WriterId{1}, BufferId{3}}};
  EXPECT_THAT(Read({writer, requests_[0].op(), requests_[1].op()}, config_),
              ElementsAre("other", "buffer 3: 8192 ring_buffer", "buffer 4: 4096 discard", "other",
                          "other"));
}

TEST_F(AddedBuffersTest, ASizeMakesABuffer) {
  EXPECT_THAT(Read({requests_[0].op()}, {.config = {}, .sizes = {{BufferId{4}, 64}}}),
              ElementsAre("buffer 4: 64 ring_buffer", "other"));
}

TEST_F(AddedBuffersTest, TheLogsOwnBuffersCount) {
  EXPECT_THAT(Read({BufferOp(3), requests_[0].op()}, config_),
              ElementsAre("buffer 3: 4096 ring_buffer", "other"));
}

TEST_F(AddedBuffersTest, TheConfigIsAddedIfTheLogHasNone) {
  UnrecordedBuffers known = config_;
  known.trace_config = "config";
  // In front of the buffers that the log has.
  EXPECT_THAT(Read({BufferOp(3), requests_[0].op()}, known),
              ElementsAre("other", "buffer 3: 4096 ring_buffer", "other"));
  const Op own{.time_ns = {}, .body = TraceConfigRecord{.config = "own"}};
  EXPECT_THAT(Read({own, BufferOp(3), requests_[0].op()}, known),
              ElementsAre("other", "buffer 3: 4096 ring_buffer", "other"));
  OpsInMemory source({requests_[0].op()});
  AddedBuffers added(source, known);
  const std::optional<Op> first = added.Next().value();
  EXPECT_EQ(std::get<TraceConfigRecord>(first->body).config, "config");
}

}  // namespace
}  // namespace ringscope::testing
