#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "formats/inputs/input_kind.h"
#include "formats/io/output_file.h"
#include "formats/testing/make_zip.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two packets: a uid, and a uid with a sequence id.
const std::string kTrace("\x0A\x02\x18\x07\x0A\x04\x18\x07\x50\x02", 10);

Result<ZipArchive> OpenZip(const std::string& bytes) {
  RS_ASSIGN_OR_RETURN(const auto file, TemporaryFile::Create());
  RS_RETURN_IF_ERROR(file->Write(bytes));
  return ZipArchive::Open(file->OwnName(), "a.zip");
}

ZipArchive Opened(const std::string& bytes) {
  auto archive = OpenZip(bytes);
  EXPECT_TRUE(archive) << archive.error().ToString();
  return *archive;
}

std::vector<std::string> TracesIn(const std::string& bytes) {
  std::vector<std::string> names;
  ZipArchive archive = Opened(bytes);
  for (const ZipMember& member : FindTraces(archive)) names.push_back(member.name);
  return names;
}

/// All bytes of the first member, or the error.
Result<std::string> ReadFirst(const std::string& bytes) {
  ZipArchive archive = Opened(bytes);
  RS_ASSIGN_OR_RETURN(const auto source, archive.OpenMember(archive.members().at(0)));
  return ReadAll(*source, 1 << 20);
}

TEST(TraceMembers, ByNameOrContent) {
  EXPECT_THAT(TracesIn(MakeZip({{"main.txt", "text\n"},
                                {"FS/x.pftrace", "damaged"},
                                {"FS/y", kTrace},
                                {"inner.zip", MakeZip({{"z.pftrace", kTrace}})},
                                {"w.perfetto-trace.gz", ""}})),
              ElementsAre("FS/x.pftrace", "FS/y", "w.perfetto-trace.gz"));
}

TEST(TraceMembers, NoneInAnEmptyArchive) {
  EXPECT_THAT(TracesIn(std::string("PK\x05\x06", 4) + std::string(18, '\0')), ElementsAre());
}

TEST(TraceMembers, EncryptedOnesHaveTheNameOfATrace) {
  const std::string bytes = MakeZip({{"a.pftrace", kTrace, true}, {"b", kTrace, true}});
  EXPECT_THAT(TracesIn(bytes), ElementsAre("a.pftrace"));
  const auto content = ReadFirst(bytes);
  ASSERT_FALSE(content);
  EXPECT_THAT(content.error().ToString(),
              ::testing::AllOf(HasSubstr("a.zip:a.pftrace: "), HasSubstr("is encrypted")));
}

TEST(ZipArchive, MembersAreReadWhole) {
  const std::string content(300'000, 'x');
  EXPECT_EQ(ReadFirst(MakeZip({{"a", content}})).value(), content);
}

TEST(ZipArchive, DamagedMember) {
  // A name that is nowhere else, as a letter may be in the time before it.
  const std::string name = "damaged.pftrace";
  std::string bytes = MakeZip({{name, std::string(1000, 'x') + kTrace}});
  bytes[bytes.find(name) + name.size() + 4] ^= 0x55;  // in the compressed bytes, which follow
  const auto content = ReadFirst(bytes);
  ASSERT_FALSE(content);
  EXPECT_THAT(content.error().ToString(), HasSubstr("a.zip:damaged.pftrace: "));
}

TEST(ZipArchive, CutOffArchive) {
  std::string bytes = MakeZip({{"a", kTrace}});
  bytes.resize(bytes.size() - 10);
  const auto archive = OpenZip(bytes);
  ASSERT_FALSE(archive);
  EXPECT_THAT(archive.error().ToString(), HasSubstr("the zip archive cannot be read"));
}

}  // namespace
}  // namespace ringscope::testing
