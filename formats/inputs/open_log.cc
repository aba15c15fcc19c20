#include "formats/inputs/open_log.h"

#include <algorithm>
#include <utility>

#include "core/base/wire.h"
#include "formats/io/zstd_source.h"
#include "formats/log/commit_log_format.h"
#include "formats/log/commit_log_reader.h"
#include "formats/ops/ops_jsonl.h"

namespace ringscope {
namespace {

/// Whether bytes can be the start of a text: no control characters but white space.
bool LooksLikeText(std::string_view start) {
  return std::ranges::all_of(start, [](char c) {
    return static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\r' || c == '\t';
  });
}

Result<std::unique_ptr<LogSource>> OpenText(std::unique_ptr<ByteSource> text, LogFormat format,
                                            std::string_view start) {
  if (!LooksLikeText(start)) {
    return Fail(ErrorCode::kCorrupt, "neither a commit log nor operations in text",
                {text->path(), {}, {}},
                "expected a .tblog or an .ops.jsonl, plain or zstd-compressed");
  }
  return MakeOpsReader(std::move(text), format);
}

}  // namespace

Result<std::unique_ptr<LogSource>> OpenLog(const std::string& path) {
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  return OpenLog(std::move(source));
}

Result<std::unique_ptr<LogSource>> OpenLog(std::unique_ptr<ByteSource> source) {
  return OpenLog(std::move(source), nullptr);
}

Result<std::unique_ptr<LogSource>> OpenLog(std::unique_ptr<ByteSource> source,
                                           CommitLogObserver* observer) {
  RS_ASSIGN_OR_RETURN(std::string start, ReadStart(*source, commit_log::kStartFrameSize));
  if (start.empty())
    return Fail(ErrorCode::kCorrupt, "the file is empty", {source->path(), {}, {}},
                "expected a .tblog or an .ops.jsonl; a recorder that was killed at its start, or a "
                "copy that failed, leaves an empty file");
  const bool is_commit_log = commit_log::LooksLikeCommitLog(wire::AsBytes(start));
  const bool is_zstd = IsZstd(wire::AsBytes(start));
  source = MakePrefixedSource(start, std::move(source));
  if (is_commit_log) return MakeCommitLogReader(std::move(source), observer);
  if (!is_zstd) return OpenText(std::move(source), LogFormat::kOps, start);

  std::unique_ptr<ZstdSource> content = ZstdSource::Make(std::move(source));
  RS_ASSIGN_OR_RETURN(start, content->Peek(commit_log::kStartFrameSize));
  if (commit_log::LooksLikeCommitLog(wire::AsBytes(start))) {
    return MakeCommitLogReader(std::move(content), observer);
  }
  if (IsZstd(wire::AsBytes(start))) {
    return Fail(ErrorCode::kUnsupported, "the input is compressed with zstd twice",
                {content->path(), {}, {}}, "decompress it once");
  }
  return OpenText(std::move(content), LogFormat::kZstdOps, start);
}

}  // namespace ringscope
