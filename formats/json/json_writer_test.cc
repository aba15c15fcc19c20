#include <gtest/gtest.h>

#include <random>

#include "core/base/text.h"
#include "core/base/wire.h"
#include "formats/io/hex.h"
#include "formats/json/json.h"
#include "formats/testing/parsed_json.h"

namespace ringscope {
namespace {

TEST(Hex_RoundTrip, AllBytes) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  std::string hex;
  AppendHex(hex, wire::AsBytes(bytes));
  EXPECT_EQ(hex.substr(0, 8), "00010203");
  EXPECT_EQ(hex.substr(504), "fcfdfeff");
  std::string decoded = "before";
  EXPECT_TRUE(DecodeHex(hex, decoded));
  EXPECT_EQ(decoded, "before" + bytes);
}

TEST(Hex_Decode, RefusesOtherCharacters) {
  for (const std::string_view hex : {"0", "0g", "g0", "0x", " 0", "0\xB0", "00000/", ":000"}) {
    std::string out = "kept";
    EXPECT_FALSE(DecodeHex(hex, out)) << hex;
    EXPECT_EQ(out, "kept");
  }
  std::string out;
  EXPECT_TRUE(DecodeHex("aAfF", out));
  EXPECT_EQ(out, "\xAA\xFF");
}

TEST(JsonWriter_Object, KeysInOrder) {
  std::string out = "> ";
  JsonObjectWriter object(out);
  object.Uint("u", UINT64_MAX);
  object.Int("i", INT64_MIN);
  object.Bool("t", true);
  object.Bool("f", false);
  object.Name("n", "name");
  object.Text("s", "a\"\\\n\t\r\x1F\x7F\xC3\xA9");
  object.Text("x", "\xC3");
  object.Hex("h", wire::AsBytes("hi"));
  object.Key("k");
  out += "null";
  object.Close();
  EXPECT_EQ(out,
            R"(> {"u":18446744073709551615,"i":-9223372036854775808,"t":true,"f":false,"n":"name",)"
            R"("s":"a\"\\\n\t\u000d\u001f)"
            "\x7F\xC3\xA9"
            R"(","x_hex":"c3","h":"6869","k":null})");
}

TEST(JsonWriter_Utf8, IsWhatJsonParsersTake) {
  const uint8_t kEdges[] = {0x20, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xDF, 0xE0,
                            0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};
  std::mt19937 random(1);
  for (int i = 0; i < 50'000; ++i) {
    std::string text(1 + random() % 5, '\0');
    for (char& c : text) c = static_cast<char>(kEdges[random() % std::size(kEdges)]);
    std::string quoted;
    AppendJsonString(quoted, text);
    ASSERT_EQ(IsUtf8(text), Json::accept(quoted)) << quoted;
  }
}

}  // namespace
}  // namespace ringscope
