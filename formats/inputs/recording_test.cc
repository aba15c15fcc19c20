#include "formats/inputs/recording.h"

#include <gtest/gtest.h>

namespace ringscope {
namespace {

constexpr const char* kTwoSessions =
    R"({"op":"session_start","session":1}
{"op":"clone","clone":1,"session":1}
{"op":"buffer_clone","clone":1,"buffer":1}
{"op":"clone_done","clone":1,"success":true}
{"op":"session_start","session":2}
)";

/// A log in memory that counts how often it is opened.
class OpenedRecording : public ::testing::Test {
 protected:
  Recording Open(const std::string& log) {
    return Recording(
        {"log"},
        [this, log](const std::string&) -> Result<std::unique_ptr<ByteSource>> {
          ++opens_;
          return MakeMemorySource(log);
        },
        /*is_read_once=*/false);
  }
  int opens_ = 0;
};

TEST_F(OpenedRecording, ReadToItsEnd_HasAnIndexWithoutAnotherPass) {
  const Recording recording = Open(R"({"op":"buffer","id":1,"size":4096,"policy":"discard"})"
                                   "\n");
  RecordingPass pass(recording);
  ASSERT_TRUE(pass.NextSession().value());
  while (pass.Next().value()) {
  }
  EXPECT_EQ(recording.Index(pass.place())->buffers.at(BufferId{1}).size, 4096u);
  EXPECT_EQ(opens_, 1);
  EXPECT_TRUE((*recording.Records(pass.place()))->Next().value());
  EXPECT_EQ(opens_, 2);
}

TEST_F(OpenedRecording, FindsATracingSessionByItsNumber) {
  const Recording recording = Open(kTwoSessions);
  const SessionPlace place = recording.Find(2).value();
  EXPECT_EQ(place.run, 1u);
  EXPECT_EQ(place.tracing, 2u);
  EXPECT_TRUE(recording.Index(place)->clones.empty()) << "it is of the other session";
  EXPECT_EQ(recording.Index(recording.Find(1).value())->clones.size(), 1u);
  EXPECT_EQ(recording.Find(3).error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace ringscope
