#include "commands/record/log_files.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <filesystem>
#include <random>
#include <utility>

#include "commands/shell/context.h"
#include "formats/inputs/log_parts.h"
#include "formats/io/file_lock.h"
#include "formats/log/commit_log_format.h"

namespace ringscope {
namespace {

namespace fs = std::filesystem;

/// The files that are further parts of an older recording of this name: by their names, and by
/// their headers or because they are empty. Those of others stay.
Result<std::vector<std::string>> FindOlderParts(const LogFilesOptions& options) {
  std::vector<std::string> older;
  for (const std::string& path : FilesNamedAsParts(options.path)) {
    if (const std::optional<LockOwner> owner = LockOwnerOf(path)) {
      return Fail(ErrorCode::kIo,
                  fmt::format("a part of a recording of this name, {}, is {}", path,
                              BeingRecordedBy(*owner)),
                  {options.path, {}, {}}, "choose another name, or stop that recorder first");
    }
    std::error_code ignored;
    const std::optional<LogHeader> header = ReadHeaderOf(path);
    if ((header && header->part > 0) || fs::file_size(path, ignored) == 0) older.push_back(path);
  }
  if (older.empty() || options.replace) return older;
  return Fail(ErrorCode::kUsage,
              fmt::format("there is a part of an older recording of this name: {}", older.front()),
              {options.path, {}, {}}, "choose another name, or replace it with --force");
}

}  // namespace

LogHeader LiveHeader() {
  LogHeader header;
  header.format_version = commit_log::kFormatVersion;
  header.tool = ToolVersion();
  header.uuid = RandomUuid();
  header.source = Origin::kShm;
  if (utsname names = {}; ::uname(&names) == 0)
    header.host = fmt::format("{} {} {}", names.sysname, names.release, names.machine);
  header.clock = "boottime";
  header.description = "recorded live";
  return header;
}

std::string RandomUuid() {
  std::random_device random;
  std::string uuid;
  for (int i = 0; i < 4; ++i) uuid += fmt::format("{:08x}", random());
  return uuid;
}

Result<std::unique_ptr<LogFiles>> LogFiles::Create(LogFilesOptions options) {
  auto files = std::unique_ptr<LogFiles>(new LogFiles(std::move(options)));
  RS_ASSIGN_OR_RETURN(const std::vector<std::string> older, FindOlderParts(files->options_));
  RS_RETURN_IF_ERROR(files->OpenPart(files->options_.replace ? GrowingFile::Existing::kReplace
                                                             : GrowingFile::Existing::kRefuse));
  for (const std::string& path : older) {
    std::error_code error;
    if (!fs::remove(path, error) && error)
      return Fail(ErrorCode::kIo,
                  fmt::format("cannot remove a part of the older recording: {}", error.message()),
                  {path, {}, {}});
  }
  return files;
}

Status LogFiles::OpenPart(GrowingFile::Existing existing) {
  std::string path = PartPath(options_.path, part_);
  if (std::error_code ignored; part_ > 0 && fs::exists(path, ignored)) {
    // Somebody else's. Readers that are given all parts know them by their headers.
    const fs::path whole(options_.path);
    const std::string name =
        fmt::format("{}-{}{}", whole.stem().string(), options_.header.uuid.substr(0, 8),
                    whole.extension().string());
    path = PartPath((whole.parent_path() / name).string(), part_);
  }
  while (true) {
    auto file = GrowingFile::Create(path, existing);
    if (!file && (part_ == 0 || !on_full_ || !on_full_(file.error())))
      return tl::unexpected<Error>(std::move(file).error());
    if (!file) continue;
    // Only now the part before is unlocked.
    if (file_) RS_RETURN_IF_ERROR(file_->Close());
    file_ = *std::move(file);
    break;
  }
  CommitLogWriterOptions options;
  options.level = options_.level;
  RS_ASSIGN_OR_RETURN(writer_, CommitLogWriter::Create(*this, options));
  const std::vector<OpBody> repeated = state_.Records();
  LogHeader header = options_.header;
  header.part = part_;
  header.first_part = first_part_;
  header.repeated_records = repeated.size();
  RS_RETURN_IF_ERROR(writer_->Append({.time_ns = {}, .body = std::move(header)}));
  for (const OpBody& body : repeated)
    RS_RETURN_IF_ERROR(writer_->Append({.time_ns = last_time_ns_, .body = body}));
  return {};
}

Status LogFiles::Write(Bytes bytes) {
  Status status = file_->Write(bytes);
  while (!status && file_->disk_was_full() && on_full_ && on_full_(status.error()))
    status = file_->Write(bytes);
  return status;
}

RecordingEnded LogFiles::Ended(RecordingEnding ending) const {
  VerdictBuilder verdicts = verdicts_;
  if (first_part_ > 0) verdicts.AddRemovedParts(first_part_);
  return verdicts.Ended(ending);
}

Status LogFiles::BeginNextPart() {
  RS_RETURN_IF_ERROR(
      writer_->Append({.time_ns = last_time_ns_, .body = Ended(RecordingEnding::kNextPart)}));
  RS_RETURN_IF_ERROR(writer_->Close());
  bytes_before_ += writer_->bytes_written();
  done_.emplace_back(file_->path(), writer_->bytes_written());
  uint64_t kept = *options_.max_size;  // the new part
  for (const auto& [path, bytes] : done_) kept += bytes;
  while (options_.keep && kept > *options_.keep && !done_.empty()) {
    kept -= done_.front().second;
    std::error_code ignored;  // a file that stays is one more than was asked for
    fs::remove(done_.front().first, ignored);
    done_.pop_front();
    ++first_part_;
  }
  ++part_;
  return OpenPart(GrowingFile::Existing::kRefuse);
}

Status LogFiles::Append(const Op& op) {
  if (options_.max_size && writer_->bytes_written() >= *options_.max_size)
    RS_RETURN_IF_ERROR(BeginNextPart());
  RS_RETURN_IF_ERROR(writer_->Append(op));
  if (op.time_ns) last_time_ns_ = op.time_ns;
  state_.Add(op.body);
  verdicts_.Add(op.body);
  return {};
}

Status LogFiles::Close(std::optional<RecordingEnding> ending, std::optional<uint64_t> time_ns) {
  if (ending) RS_RETURN_IF_ERROR(writer_->Append({.time_ns = time_ns, .body = Ended(*ending)}));
  RS_RETURN_IF_ERROR(writer_->Close());
  return file_->Close();
}

}  // namespace ringscope
