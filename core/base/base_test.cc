// Ids, names, errors and protobuf's wire format.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/text.h"
#include "core/base/wire.h"

namespace ringscope {
namespace {

TEST(ChunkIdOrder, IsModulo) {
  EXPECT_TRUE(Precedes(ChunkId{1}, ChunkId{2}));
  EXPECT_TRUE(Precedes(ChunkId{UINT32_MAX}, ChunkId{0}));
  EXPECT_FALSE(Precedes(ChunkId{0}, ChunkId{UINT32_MAX}));
  EXPECT_EQ(Successor(ChunkId{UINT32_MAX}), ChunkId{0});
}

TEST(ChunkIdUnwrapper, NumbersAreNearestToTheNewest) {
  ChunkIdUnwrapper ids;
  EXPECT_EQ(ids.Of(ChunkId{UINT32_MAX}), UINT32_MAX);
  const auto add = [&](uint32_t id) {
    ids.AddNumber(ids.Of(ChunkId{id}));
    return ids.Of(ChunkId{id});
  };
  EXPECT_EQ(add(UINT32_MAX - 1), UINT32_MAX - 1);
  EXPECT_EQ(add(1), uint64_t{UINT32_MAX} + 2);
  EXPECT_EQ(add(UINT32_MAX), UINT32_MAX);
  EXPECT_EQ(ids.newest(), uint64_t{UINT32_MAX} + 2);
  EXPECT_EQ(ids.Of(ChunkId{2}), uint64_t{UINT32_MAX} + 3);
  EXPECT_EQ(ChunkIdUnwrapper().Of(ChunkId{7}), 7u);
}

TEST(Wire, FieldReader_StopsAtMalformedBytes) {
  std::string message;
  wire::AppendUint(message, 1, 300);
  wire::AppendBytes(message, 2, wire::AsBytes("abc"));
  const std::string good = message;
  message += "\x12\x7F";  // field 2, 127 bytes, none there
  wire::FieldReader reader(wire::AsBytes(message));
  auto field = reader.Next();
  ASSERT_TRUE(field);
  EXPECT_EQ(field->number, 1u);
  EXPECT_EQ(field->value, 300u);
  field = reader.Next();
  ASSERT_TRUE(field);
  EXPECT_EQ(wire::AsText(field->bytes), "abc");
  EXPECT_EQ(field->whole.size(), 5u);
  EXPECT_FALSE(reader.Next());
  EXPECT_FALSE(reader.ok());
  wire::FieldReader whole(wire::AsBytes(good));
  while (whole.Next()) {
  }
  EXPECT_TRUE(whole.ok());
}

TEST(Wire, FieldReader_RefusesGroupsAndFieldZero) {
  for (const std::string& message : {std::string("\x0B"), std::string("\x00\x01", 2)}) {
    wire::FieldReader reader(wire::AsBytes(message));
    EXPECT_FALSE(reader.Next());
    EXPECT_FALSE(reader.ok());
  }
}

TEST(Nearest, SuggestsWhatWasMeant) {
  const std::vector<std::string_view> names = {"replay", "repair", "stats"};
  EXPECT_EQ(NearestName("repaly", names), "replay");
  EXPECT_EQ(NearestName("stat", names), "stats");
  EXPECT_EQ(NearestName("xyz", names), std::nullopt);
}

TEST(Error, NamesWhereAndWhatToDo) {
  Error error;
  error.message = "chunk is a string, expected a number";
  error.where.path = "x.ops.jsonl";
  error.where.line = 7;
  error.hint = "see ringscope-import(1)";
  EXPECT_EQ(error.ToString(),
            "x.ops.jsonl:7: chunk is a string, expected a number (see ringscope-import(1))");
}

}  // namespace
}  // namespace ringscope
