#include "formats/json/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(Json, Parse_GivesTheSameText) {
  const std::string text =
      R"({"b":[1,-2,0.25,{"x":[[]]},"u\u00e4"],"a":{"n":null,"t":true},"e":{}})";
  const Result<Json> json = ParseJson(text);
  ASSERT_TRUE(json) << json.error().ToString();
  EXPECT_EQ(JsonText(*json), R"({"b":[1,-2,0.25,{"x":[[]]},"uä"],"a":{"n":null,"t":true},"e":{}})");
  EXPECT_EQ(json->at("b")[0].get<uint64_t>(), 1U);
  EXPECT_THROW(json->at("c"), Json::exception);
  EXPECT_THROW(json->at("b")[0].get<std::string>(), Json::exception);
}

TEST(Json, Parse_IsBoundedAndNamesThePlace) {
  const std::string levels = std::string(32, '[') + std::string(32, ']');
  EXPECT_TRUE(ParseJson(levels));
  EXPECT_EQ(ParseJson("[" + levels + "]").error().code, ErrorCode::kLimit);
  EXPECT_TRUE(ParseJson("[1,2]", 3));
  EXPECT_EQ(ParseJson("[1,2,3]", 3).error().code, ErrorCode::kLimit);
  EXPECT_THAT(ParseJson(R"({"a":})").error().ToString(), HasSubstr("byte 6"));
  EXPECT_FALSE(ParseJson(""));
}

}  // namespace
}  // namespace ringscope
