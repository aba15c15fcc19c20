#include "formats/ipc/ipc_frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "formats/ipc/ipc_messages.h"
#include "formats/testing/ipc_frames.h"

namespace ringscope::ipc {
namespace {

std::string SomeInvoke(const std::string& args, uint64_t request_id = 7) {
  std::string frame;
  AppendInvoke(frame, request_id,
               {.service = 1, .method = 4, .args = wire::AsBytes(args), .drop_reply = true});
  return frame;
}

/// Feeds a decoder in slices of this size. @return the frames, or the error's text
std::vector<std::string> DecodeInSlices(const std::string& stream, size_t slice) {
  FrameDecoder decoder;
  std::vector<std::string> frames;
  for (size_t at = 0; at < stream.size();) {
    const std::span<uint8_t> space = decoder.Space();
    const size_t size = std::min({slice, space.size(), stream.size() - at});
    std::memcpy(space.data(), stream.data() + at, size);
    decoder.Received(size);
    at += size;
    EXPECT_EQ(decoder.received(), at);
    while (true) {
      const auto frame = decoder.Next();
      if (!frame) return {frame.error().message};
      if (!*frame) break;
      frames.emplace_back(wire::AsText(**frame));
    }
  }
  EXPECT_EQ(decoder.position() + decoder.rest().size(), stream.size());
  return frames;
}

TEST(FrameDecoder, Stream_IsCutTheSameInSlicesOfAnySize) {
  const std::vector<std::string> frames = {SomeInvoke("a"), std::string(4, '\0'),
                                           SomeInvoke(std::string(100'000, 'b')), SomeInvoke("c")};
  std::string stream;
  for (int i = 0; i < 3; ++i)
    for (const std::string& frame : frames) stream += frame;
  for (const size_t slice : {1u, 3u, 4096u, 1u << 20}) {
    const std::vector<std::string> cut = DecodeInSlices(stream, slice);
    ASSERT_EQ(cut.size(), 12u) << slice;
    for (size_t i = 0; i < cut.size(); ++i) EXPECT_TRUE(cut[i] == frames[i % 4]) << slice;
  }
}

TEST(FrameDecoder, LargestFrame_IsTaken) {
  const size_t overhead = SomeInvoke(std::string(100'000, 'x')).size() - 100'000;
  const std::string largest = SomeInvoke(std::string(kMaxFrameBytes - overhead, 'x'));
  ASSERT_EQ(largest.size(), kMaxFrameBytes);
  EXPECT_THAT(DecodeInSlices(largest, 5000), ::testing::ElementsAre(largest));
}

TEST(FrameDecoder, LargerFrame_IsRefusedFromItsPrefixAlone) {
  const std::string prefix("\xfd\xff\x01\x00", 4);  // one byte more than possible
  EXPECT_THAT(DecodeInSlices(prefix, 4),
              ::testing::ElementsAre("announced a frame of 131069 bytes, at most 131068 are "
                                     "possible"));
}

TEST(Frame, Invoke_ComesBack) {
  const std::string bytes = SomeInvoke("args", 300);
  const Frame frame = ParseFrame(wire::AsBytes(bytes)).value();
  EXPECT_EQ(frame.request_id, 300u);
  const auto& invoke = std::get<InvokeMethod>(frame.body);
  EXPECT_EQ(invoke.service, 1u);
  EXPECT_EQ(invoke.method, 4u);
  EXPECT_EQ(wire::AsText(invoke.args), "args");
  EXPECT_TRUE(invoke.drop_reply);
}

TEST(Frame, BindReply_TeachesMethods) {
  std::string bytes;
  AppendBindReply(bytes, 1,
                  {.success = true,
                   .service = 9,
                   .methods = {{40, "CommitData"}, {41, "Sync"}, {42, "Unheard"}}});
  const Frame frame = ParseFrame(wire::AsBytes(bytes)).value();
  MethodTable table;
  EXPECT_EQ(table.Find({.service = 9, .method = 40}), MethodName::kUnknown);
  table.Learn(std::get<BindServiceReply>(frame.body));
  EXPECT_EQ(table.service(), 9u);
  EXPECT_EQ(table.Find({.service = 9, .method = 40}), MethodName::kCommitData);
  EXPECT_EQ(table.Find({.service = 9, .method = 42}), MethodName::kUnknown);
  EXPECT_EQ(table.Find({.service = 8, .method = 40}), MethodName::kUnknown);
  EXPECT_EQ(table.IdOf(MethodName::kSync), 41u);
  EXPECT_EQ(table.IdOf(MethodName::kReadBuffers), std::nullopt);
}

TEST(Frame, OtherArguments_LeaveAllElseAsItIs) {
  std::string body;
  wire::AppendUint(body, 1, 1);
  wire::AppendUint(body, 2, 4);
  wire::AppendBytes(body, 3, wire::AsBytes("old"));
  wire::AppendUint(body, 4, 1);
  wire::AppendBytes(body, 77, wire::AsBytes("a newer field"));
  std::string message;
  wire::AppendUint(message, 2, 12);
  wire::AppendBytes(message, 5, wire::AsBytes(body));
  wire::AppendUint(message, 99, 5);
  std::string whole(4, '\0');
  whole[0] = static_cast<char>(message.size());
  whole += message;

  const Frame frame = ParseFrame(wire::AsBytes(whole)).value();
  std::string edited;
  AppendWithArgs(edited, frame, wire::AsBytes("something new"));
  const Frame after = ParseFrame(wire::AsBytes(edited)).value();
  EXPECT_EQ(after.request_id, 12u);
  EXPECT_EQ(wire::AsText(std::get<InvokeMethod>(after.body).args), "something new");
  EXPECT_TRUE(std::get<InvokeMethod>(after.body).drop_reply);
  EXPECT_THAT(edited, ::testing::HasSubstr("a newer field"));
  EXPECT_TRUE(edited.ends_with(std::string("\x98\x06\x05", 3)));  // field 99
  EXPECT_EQ(edited.size(), whole.size() + 10);
}

TEST(Frame, MalformedMessages_AreRefused) {
  for (const char* text : {"\x2a\x05\x08", "\x07", "\x2a\x02\x08\x80", "\x22\x03\x1a\x01\x08"}) {
    const std::string whole = std::string(4, '\0') + text;
    EXPECT_FALSE(ParseFrame(wire::AsBytes(whole))) << text;
  }
}

TEST(Frame, UnknownKinds_AreTaken) {
  std::string whole(4, '\0');
  wire::AppendUint(whole, 2, 3);
  wire::AppendBytes(whole, 8, wire::AsBytes("a peer's identity"));
  const Frame frame = ParseFrame(wire::AsBytes(whole)).value();
  EXPECT_EQ(frame.request_id, 3u);
  EXPECT_TRUE(std::holds_alternative<OtherFrame>(frame.body));
}

TEST(Messages, AsyncCommand_HasItsPartOnly) {
  AsyncCommand command;
  command.set_up = DataSourceInstance{3, {"track_event", 7}};
  std::string bytes;
  EncodeMessage(command, bytes);
  AsyncCommand back;
  ASSERT_TRUE(DecodeMessage(wire::AsBytes(bytes), back));
  EXPECT_FALSE(back.start || back.stop || back.flush || back.setup_tracing);
  ASSERT_TRUE(back.set_up);
  EXPECT_EQ(back.set_up->config.name, "track_event");
  EXPECT_EQ(back.set_up->config.target_buffer, 7u);
}

}  // namespace
}  // namespace ringscope::ipc
