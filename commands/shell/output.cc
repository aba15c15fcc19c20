#include "commands/shell/output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>

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
                                                 const OutputKind& kind, bool force) {
  if (path != "-") return OutputFile::Create(path, kind, ReplaceBy(force));
  if (!kind.is_text && context.console.out_is_terminal()) {
    return Fail(ErrorCode::kUsage, "will not write binary data to a terminal", {},
                "name a file, or send standard output to one");
  }
  return std::make_unique<ResultsFile>(context.console);
}

Status CheckOutputName(const std::string& path, const char* what,
                       std::initializer_list<std::string_view> own) {
  constexpr std::array<std::string_view, 18> kKnown = {
      ".csv", ".db",  ".dot",     ".gif", ".htm",    ".html", ".jpeg",  ".jpg", ".json",
      ".md",  ".pdf", ".pftrace", ".png", ".sqlite", ".svg",  ".tblog", ".txt", ".zip"};
  const std::string name = std::filesystem::path(path).extension().string();
  if (std::ranges::find(own, name) != own.end() || std::ranges::find(kKnown, name) == kKnown.end())
    return {};
  return Fail(
      ErrorCode::kUsage,
      fmt::format("the output is {}, but '{}' is the extension of another format", what, name),
      {path, {}, {}}, fmt::format("name it {}", fmt::join(own, " or ")));
}

}  // namespace ringscope
