#include "formats/json/json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "formats/json/key_reader.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;

TEST(Json, Text_KeepsOrderAndTypes) {
  const Json json = {{"z", 1},
                     {"a", {{"minus", -2}, {"half", 0.5}, {"one", 1.0}, {"large", 1e300}}},
                     {"none", std::optional<int>()},
                     {"some", std::optional<int>(3)},
                     {"list", std::vector<int>{1, 2}},
                     {"pair", {{"key", "value"}}},
                     {"yes", true},
                     {"empty", Json::array()},
                     {"text", "a\"b\n"}};
  EXPECT_EQ(JsonText(json),
            R"({"z":1,"a":{"minus":-2,"half":0.5,"one":1.0,"large":1e+300},"none":null,"some":3,)"
            R"("list":[1,2],"pair":{"key":"value"},"yes":true,"empty":[],"text":"a\"b\n"})");
}

TEST(Json, Text_ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(JsonText("a\xff\xe2\x82z"), "\"a\xEF\xBF\xBD\xEF\xBF\xBDz\"");
  EXPECT_EQ(JsonText("gr\xc3\xb6\xc3\x9f"), "\"gr\xc3\xb6\xc3\x9f\"");
}

TEST(ScanJson, ValuesAreInOrderWithTheirKeys) {
  const std::string text = R"( {"b":[1,-2.5e1,{"x":[[]]},"u\u00e4"],"a\"":{"n":null,"t":true}} )";
  const Result<ScannedJson> json = ScanJson(text);
  ASSERT_TRUE(json) << json.error().ToString();
  std::string all;
  for (const ScannedJson::Value& value : json->values)
    all += fmt::format("{}={} {}\n", value.key, value.text, value.next);
  EXPECT_EQ(all, "=" + text.substr(1, text.size() - 2) +
                     " 11\n"
                     "b=[1,-2.5e1,{\"x\":[[]]},\"u\\u00e4\"] 8\n"
                     "=1 3\n=-2.5e1 4\n={\"x\":[[]]} 7\nx=[[]] 7\n=[] 7\n=uä 8\n"
                     "a\"={\"n\":null,\"t\":true} 11\nn=null 10\nt=true 11\n");
}

TEST(ScanJson, IsBoundedAndNamesThePlace) {
  const std::string levels = std::string(32, '[') + std::string(32, ']');
  EXPECT_TRUE(ScanJson(levels));
  EXPECT_EQ(ScanJson("[" + levels + "]").error().code, ErrorCode::kLimit);
  EXPECT_THAT(ScanJson(R"({"a":})").error().ToString(), HasSubstr("byte 6"));
  EXPECT_THAT(ScanJson(R"({"a":trux})").error().ToString(), HasSubstr("byte 9"));
  EXPECT_THAT(ScanJson(R"({"a":"b)").error().ToString(), HasSubstr("byte 8"));
  EXPECT_FALSE(ScanJson(""));
}

/// The library decides what is JSON.
TEST(ScanJson, AcceptsWhatTheLibraryDoes) {
  for (const std::string text : {"0",
                                 "-0",
                                 "00",
                                 "-",
                                 "1.",
                                 ".5",
                                 "1.5",
                                 "1e",
                                 "1e+",
                                 "1E-7",
                                 "1e308",
                                 "1e309",
                                 "+1",
                                 "0x1",
                                 "truth",
                                 "nul",
                                 "[1,]",
                                 "[,1]",
                                 "[1 2]",
                                 "{\"a\"}",
                                 "{\"a\":1,}",
                                 "{a:1}",
                                 "{\"a\" :\t1\n}",
                                 "\"\\x\"",
                                 "\"\\ud83d\\ude00\"",
                                 "\"\\ud83d\"",
                                 "\"\t\"",
                                 "\"\xC3\xA4\"",
                                 "\"\xC3\"",
                                 "\"\\\"",
                                 "\"a\\\\\"",
                                 "\xEF\xBB\xBF[]",
                                 "[]]",
                                 "[[]",
                                 "\x0B[]",
                                 "/**/1",
                                 "'a'",
                                 "NaN"})
    EXPECT_EQ(ScanJson(text).has_value(), Json::accept(text)) << text;
  const std::string long_number(400, '9');
  EXPECT_EQ(ScanJson(long_number).error().message, "invalid JSON: a number is too large");
}

TEST(ScanJson, AcceptsOfDamagedTextsWhatTheLibraryDoes) {
  const std::string line =
      R"({"op":"commit","ts":18446744073709551615,"pid":-1.5e+3,"complete":false,"x":[{},null],)"
      R"("payload":"00fFaB\u00e4"})";
  std::mt19937 random(1);
  constexpr std::string_view kBytes = R"(0123456789abcdefgZ"{}[]:,\ -+.eu)";
  for (int i = 0; i < 20'000; ++i) {
    std::string changed = line;
    for (size_t changes = random() % 3 + 1; changes > 0; --changes) {
      const size_t at = random() % changed.size();
      const char byte = kBytes[random() % kBytes.size()];
      if (random() % 3 == 0)
        changed.erase(at, random() % 3 == 0 ? random() % 30 : 1);
      else if (random() % 2 == 0)
        changed.insert(at, 1, byte);
      else
        changed[at] = byte;
    }
    ASSERT_EQ(ScanJson(changed).has_value(), Json::accept(changed)) << changed;
  }
}

}  // namespace
}  // namespace ringscope
