#include "commands/advise_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "commands/import_trace.h"
#include "commands/session_reader.h"
#include "formats/input_kind.h"
#include "formats/zstd_source.h"

namespace ringscope {
namespace {

Result<std::unique_ptr<ByteSource>> Open(Context& context, const std::string& path) {
  const auto& open_input = context.console.streams().open_input;
  return path == "-" && open_input ? open_input() : OpenByteSource(path);
}

/// A folder for one file, that goes away with all that is in it.
class Folder {
 public:
  static Result<Folder> Make() {
    const char* parent = std::getenv("TMPDIR");
    std::string name =
        fmt::format("{}/ringscope-XXXXXX", parent != nullptr && *parent != '\0' ? parent : "/tmp");
    if (mkdtemp(name.data()) == nullptr) {
      return Fail(ErrorCode::kIo,
                  fmt::format("cannot make a temporary folder: {}", std::strerror(errno)),
                  {name, {}, {}}, "set TMPDIR to a folder with room");
    }
    return Folder(std::move(name));
  }
  Folder(Folder&& other) noexcept : name_(std::move(other.name_)) { other.name_.clear(); }
  Folder& operator=(Folder&&) = delete;
  ~Folder() {
    if (name_.empty()) return;
    unlink(file().c_str());
    rmdir(name_.c_str());
  }
  std::string file() const { return name_ + "/trace.tblog"; }

 private:
  explicit Folder(std::string name) : name_(std::move(name)) {}
  std::string name_;
};

Status Import(Context& context, AdviseInput& input, std::unique_ptr<ByteSource> source) {
  RS_ASSIGN_OR_RETURN(const Folder folder, Folder::Make());
  ImportArgs args;
  args.log = input.path;
  args.output = folder.file();
  {
    // Not a word of the temporary file.
    Console console(context.console.streams());
    console.Configure({.quiet = true});
    Context quiet{console, context.threads};
    RS_ASSIGN_OR_RETURN(input.code, RunTraceImport(args, std::move(source), quiet));
  }
  const int file = open(folder.file().c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return Fail(ErrorCode::kIo,
                fmt::format("cannot open a temporary log: {}", std::strerror(errno)),
                {folder.file(), {}, {}}, "set TMPDIR to a folder with room");
  }
  input.imported = SpooledInput::Take(context, file);
  input.path = "-";
  input.is_trace = true;
  return {};
}

}  // namespace

Result<AdviseInput> OpenAdviseInput(Context& context, const std::string& path) {
  AdviseInput input;
  input.path = path;
  input.name = path;
  if (path == "-") {
    RS_ASSIGN_OR_RETURN(input.standard_input, SpooledInput::Read(context));
  }
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, Open(context, path));
  RS_ASSIGN_OR_RETURN(std::string start, ReadStart(*source, kKindBytes));
  if (KindOfStart(start) == InputKind::kTrace) {
    source = MakePrefixedSource(std::move(start), std::move(source));
    RS_RETURN_IF_ERROR(Import(context, input, std::move(source)));
  }
  return input;
}

}  // namespace ringscope
