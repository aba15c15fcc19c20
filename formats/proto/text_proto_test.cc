#include "formats/proto/text_proto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;

TextMessage Parse(std::string_view text) {
  auto message = ParseTextProto(text, "x.pbtxt");
  EXPECT_TRUE(message) << message.error().ToString();
  return message.value_or(TextMessage());
}

TEST(TextProto, Fields_OfAllKinds) {
  const TextMessage message = Parse(R"(
    # a comment
    number: 12  hex: 0x1F; negative: -3, flag: true
    text: "a\"b" 'c'  # joined
    inner { number: 7 } angle < x: 1 >
    with_colon: { y: 2 }
    list: [1, 2, 3]
    messages [{ z: 1 }, { z: 2 }]
    [perfetto.ext.field]: 5
  )");
  EXPECT_EQ(message.Last("number")->Number(), 12u);
  EXPECT_EQ(message.Last("hex")->Number(), 31u);
  EXPECT_EQ(message.Last("negative")->Number(), std::nullopt);
  EXPECT_EQ(message.Last("flag")->value, "true");
  EXPECT_EQ(message.Last("text")->value, "a\"bc");
  EXPECT_EQ(message.Last("text")->Number(), std::nullopt);
  EXPECT_EQ(message.Last("inner")->message.Last("number")->Number(), 7u);
  EXPECT_EQ(message.Last("angle")->message.Last("x")->Number(), 1u);
  EXPECT_EQ(message.Last("with_colon")->message.Last("y")->Number(), 2u);
  EXPECT_EQ(message.All("list").size(), 3u);
  EXPECT_EQ(message.All("messages").back()->message.Last("z")->Number(), 2u);
  EXPECT_EQ(message.Last("perfetto.ext.field")->Number(), 5u);
  EXPECT_EQ(message.Last("absent"), nullptr);
}

TEST(TextProto, Errors_NameTheLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"a: 1\nb {\n c: 2\n", "x.pbtxt:4: expected '}', found the end"},
      {"a: 1\n}", "x.pbtxt:2: expected a field's name, found '}'"},
      {"a 5", "x.pbtxt:1: expected ':' or '{', found '5'"},
      {"a: \"open\n\"", "x.pbtxt:1: expected \", found"},
      {"a:", "x.pbtxt:1: expected a value, found the end"},
      {"a: [1, 2", "expected ']'"},
  };
  for (const auto& [text, expected] : cases) {
    const auto message = ParseTextProto(text, "x.pbtxt");
    ASSERT_FALSE(message) << text;
    EXPECT_THAT(message.error().ToString(), HasSubstr(expected)) << text;
  }
}

TEST(TextProto, Depth_IsBounded) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "a{";
  EXPECT_FALSE(ParseTextProto(text, "x.pbtxt"));
}

TEST(TextProto, AllConfigsOfTheCaptures_AreRead) {
  for (const std::string& file : testing::ListTestdata("captures", ".pbtxt")) {
    const TextMessage config = Parse(testing::ReadTestdata(file));
    EXPECT_GE(config.All("buffers").size(), 1u) << file;
    EXPECT_GE(config.All("data_sources").size(), 1u) << file;
  }
}

}  // namespace
}  // namespace ringscope
