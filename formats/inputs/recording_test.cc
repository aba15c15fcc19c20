#include "formats/inputs/recording.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/log/summary.h"

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

/// Names the records that a pass returns.
std::string KindsOf(const Recording& recording) {
  RecordingPass pass(recording);
  EXPECT_TRUE(pass.NextSession().value());
  std::string kinds;
  while (const auto op = pass.Next().value())
    if (op->body.index() > 0) kinds += std::string(OpKindName(op->body.index())) + " ";
  return kinds;
}

constexpr const char* kEarlyRecords =
    R"({"op":"read","ts":100000000,"buffer":"all","reason":"file","session":1,"file_bytes":5,"own_bytes":3}
{"op":"smb_look","ts":100000001,"producer":1,"number":0,"whole":true,"pages":""}
{"op":"read","ts":101000000,"buffer":"all","reason":"file","session":1,"file_bytes":9,"own_bytes":0}
{"op":"buffer_clone","ts":102000000,"clone":1,"buffer":1}
{"op":"read","ts":200000000,"buffer":"all","reason":"file","session":1,"file_bytes":12,"own_bytes":1}
{"op":"clone_done","ts":200000001,"clone":1,"success":true}
{"op":"buffer_clone","ts":200000002,"clone":2,"buffer":1}
{"op":"clone_done","ts":200000003,"clone":2,"success":true}
)";

TEST_F(OpenedRecording, EarlyRecorders_ReadsAndClonesAreCorrected) {
  const auto header = [](const char* version) {
    return fmt::format("{{\"op\":\"header\",\"format_version\":1,\"tool\":\"ringscope {}\"}}\n",
                       version);
  };
  constexpr const char* kAsLogged =
      "read smb_look read buffer_clone read clone_done buffer_clone clone_done ";
  Recording early = Open(header("0.1.0") + kEarlyRecords);
  EXPECT_EQ(KindsOf(early),
            "read smb_look note read buffer_clone clone_done buffer_clone clone_done ");
  early.KeepAsLogged();
  EXPECT_EQ(KindsOf(early), kAsLogged);
  EXPECT_EQ(KindsOf(Open(header("0.2.0") + kEarlyRecords)), kAsLogged);
}

}  // namespace
}  // namespace ringscope
