#include "formats/descriptors/proto_files.h"

#include <fmt/format.h>
#include <google/protobuf/compiler/parser.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <climits>
#include <set>

#include "formats/descriptors/merged_files.h"
#include "formats/descriptors/protobuf_errors.h"

namespace ringscope {
namespace {

using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;

constexpr const char* kOptionsFile = "google/protobuf/descriptor.proto";

/// Whether a path ends with what an import names.
bool IsImported(std::string_view path, std::string_view import) {
  return path.ends_with(import) &&
         (path.size() == import.size() || path[path.size() - import.size() - 1] == '/');
}

Status ParseFile(const ProtoFile& file, FileDescriptorProto& parsed) {
  if (file.text.size() > INT_MAX)
    return Fail(ErrorCode::kLimit, "the file is too large", {file.path, {}, {}});
  google::protobuf::io::ArrayInputStream stream(file.text.data(),
                                                static_cast<int>(file.text.size()));
  TextErrors errors;
  google::protobuf::io::Tokenizer tokens(&stream, &errors);
  google::protobuf::compiler::Parser parser;
  parser.RecordErrorsTo(&errors);
  parsed.set_name(file.path);
  if (parser.Parse(&tokens, &parsed) && errors.message.empty()) return {};
  Where where{file.path, {}, {}};
  if (errors.line >= 0) where.line = static_cast<uint64_t>(errors.line) + 1;
  return Fail(ErrorCode::kCorrupt,
              errors.message.empty() ? "this is not a .proto file" : errors.message, where,
              "expected messages as protoc takes them");
}

}  // namespace

Result<std::string> ParseProtoFiles(const std::vector<ProtoFile>& files) {
  FileDescriptorSet set;
  for (const ProtoFile& file : files) RS_RETURN_IF_ERROR(ParseFile(file, *set.add_file()));
  std::set<std::string> missing;
  bool has_options = false;
  for (int i = 0; i < static_cast<int>(files.size()); ++i) {
    for (std::string& import : *set.mutable_file(i)->mutable_dependency()) {
      const auto found = std::find_if(files.begin(), files.end(), [&](const ProtoFile& other) {
        return IsImported(other.path, import);
      });
      if (found != files.end()) {
        import = found->path;
      } else if (import == kOptionsFile) {
        has_options = true;
      } else if (import.starts_with("protos/perfetto/")) {
        missing.insert(import);
      } else {
        return Fail(ErrorCode::kCorrupt, fmt::format("'{}' is imported, but not given", import),
                    {files[static_cast<size_t>(i)].path, {}, {}}, "name that file, too");
      }
    }
  }
  // The built-in messages take the place of those files.
  for (const std::string& import : missing) {
    FileDescriptorProto& file = *set.add_file();
    file.set_name(import);
    file.set_package(kPerfettoPackage);
  }
  if (has_options) FileDescriptorProto::descriptor()->file()->CopyTo(set.add_file());
  return set.SerializeAsString();
}

}  // namespace ringscope
