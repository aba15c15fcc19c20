// The schema file and the written bytes, held against each other by the protobuf library itself.

#include <google/protobuf/compiler/importer.h>
#include <google/protobuf/dynamic_message.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "formats/inputs/open_log.h"
#include "formats/io/compressed_source.h"
#include "formats/io/log_source.h"
#include "formats/log/commit_log_writer.h"
#include "formats/testing/string_sink.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

namespace pb = google::protobuf;

class SchemaErrors : public pb::compiler::MultiFileErrorCollector {
 public:
  void AddError(const std::string& file, int line, int, const std::string& message) override {
    ADD_FAILURE() << file << ":" << line + 1 << ": " << message;
  }
};

/// Paths of fields that the schema does not know, however deep.
void FindUnknownFields(const pb::Message& message, const std::string& path,
                       std::vector<std::string>& found) {
  const pb::Reflection& reflection = *message.GetReflection();
  const pb::UnknownFieldSet& unknown = reflection.GetUnknownFields(message);
  for (int i = 0; i < unknown.field_count(); ++i)
    found.push_back(path + "." + std::to_string(unknown.field(i).number()));
  std::vector<const pb::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const pb::FieldDescriptor* field : fields) {
    if (field->cpp_type() != pb::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    const std::string inner = path + "." + field->name();
    if (!field->is_repeated()) {
      FindUnknownFields(reflection.GetMessage(message, field), inner, found);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i)
      FindUnknownFields(reflection.GetRepeatedMessage(message, field, i), inner, found);
  }
}

class CommitLogSchemaTest : public ::testing::TestWithParam<const char*> {
 protected:
  CommitLogSchemaTest() {
    tree_.MapPath("", std::string(RS_SOURCE_DIR) + "/formats/log");
    const pb::FileDescriptor* file = importer_.Import("commit_log.proto");
    if (file != nullptr) type_ = file->FindMessageTypeByName("CommitLog");
  }

  SchemaErrors errors_;
  pb::compiler::DiskSourceTree tree_;
  pb::compiler::Importer importer_{&tree_, &errors_};
  pb::DynamicMessageFactory factory_;
  const pb::Descriptor* type_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Logs, CommitLogSchemaTest,
                         ::testing::Values("captures/short-v2/session.ops.jsonl.zst",
                                           "captures/two-buffers-v2/session.ops.jsonl.zst",
                                           "conformance/cases/hostile-0012.jsonl.zst"));

TEST_P(CommitLogSchemaTest, KnowsAllThatIsWritten) {
  ASSERT_NE(type_, nullptr);
  StringSink sink;
  auto log = OpenLog(testing::TestdataPath(GetParam()).string()).value();
  auto writer = CommitLogWriter::Create(sink).value();
  ASSERT_TRUE(writer->Append({.time_ns = {}, .body = ImportHeader()}));
  while (const std::optional<Op> op = log->Next().value()) ASSERT_TRUE(writer->Append(*op));
  ASSERT_TRUE(writer->Close());

  const std::string content = testing::ReadAll(*MakeZstdSource(MakeMemorySource(sink.text)));
  const std::unique_ptr<pb::Message> message(factory_.GetPrototype(type_)->New());
  ASSERT_TRUE(message->ParseFromString(content));
  const pb::FieldDescriptor* record = type_->FindFieldByName("record");
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(static_cast<uint64_t>(message->GetReflection()->FieldSize(*message, record)),
            writer->records());
  std::vector<std::string> unknown;
  FindUnknownFields(*message, "CommitLog", unknown);
  EXPECT_EQ(unknown, std::vector<std::string>());
  // What the library writes of it is no longer either: nothing was lost on the way.
  EXPECT_EQ(message->ByteSizeLong(), content.size());
}

}  // namespace
}  // namespace ringscope
