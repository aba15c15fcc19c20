#include "commands/output.h"

#include <fmt/format.h>

namespace ringscope {
namespace {

/// Standard output in an OutputFile's place.
class ResultsFile : public OutputFile {
 public:
  explicit ResultsFile(Console& console) : console_(console) {}
  using ByteSink::Write;
  Status Write(Bytes bytes) override { return console_.results().Write(bytes); }
  Status Commit() override { return console_.Flush(); }
  const std::string& path() const override { return path_; }

 private:
  Console& console_;
  const std::string path_ = "-";
};

}  // namespace

Result<std::unique_ptr<OutputFile>> CreateOutput(Context& context, const std::string& path,
                                                 bool binary) {
  if (path != "-") return OutputFile::Create(path);
  if (binary && context.console.out_is_terminal()) {
    return Fail(ErrorCode::kUsage, "will not write binary data to a terminal", {},
                "name a file, or send standard output to one");
  }
  return std::make_unique<ResultsFile>(context.console);
}

Json JsonDocument(const char* name) {
  return Json{{"schema", fmt::format("ringscope.{}/1", name)}};
}

std::string JsonText(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void PrintJson(Console& console, const Json& document) { console.Print(JsonText(document)); }

}  // namespace ringscope
