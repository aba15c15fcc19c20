#include "commands/record/log_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <random>

namespace ringscope::record {

std::string PartPath(const std::string& path, uint32_t part) {
  if (part == 0) return path;
  const std::filesystem::path whole(path);
  const std::string name =
      fmt::format("{}.{}{}", whole.stem().string(), part, whole.extension().string());
  return (whole.parent_path() / name).string();
}

std::string RandomUuid() {
  std::random_device random;
  std::string uuid;
  for (int i = 0; i < 4; ++i) uuid += fmt::format("{:08x}", random());
  return uuid;
}

Result<std::unique_ptr<LogFiles>> LogFiles::Create(LogFilesOptions options) {
  auto files = std::unique_ptr<LogFiles>(new LogFiles(std::move(options)));
  RS_RETURN_IF_ERROR(files->OpenPart());
  return files;
}

Status LogFiles::OpenPart() {
  RS_ASSIGN_OR_RETURN(file_, GrowingFile::Create(PartPath(options_.path, part_)));
  CommitLogWriterOptions options;
  options.level = options_.level;
  RS_ASSIGN_OR_RETURN(writer_, CommitLogWriter::Create(*file_, options));
  LogHeader header = options_.header;
  header.part = part_;
  return writer_->Append({.time_ns = {}, .body = std::move(header)});
}

Status LogFiles::ClosePart() {
  RS_RETURN_IF_ERROR(writer_->Close());
  return file_->Close();
}

Status LogFiles::MakeRoom() {
  if (!options_.max_size || writer_->bytes_written() < *options_.max_size) return {};
  RS_RETURN_IF_ERROR(ClosePart());
  bytes_before_ += writer_->bytes_written();
  ++part_;
  return OpenPart();
}

Status LogFiles::Append(const Op& op) {
  RS_RETURN_IF_ERROR(MakeRoom());
  RS_RETURN_IF_ERROR(writer_->Append(op));
  return writer_->Flush();
}

Status LogFiles::AppendFrame(PreparedFrame& frame) {
  RS_RETURN_IF_ERROR(MakeRoom());
  return writer_->AppendFrame(frame);
}

Status LogFiles::Close() { return ClosePart(); }

}  // namespace ringscope::record
