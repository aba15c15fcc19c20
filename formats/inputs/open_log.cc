#include "formats/inputs/open_log.h"

#include <utility>

#include "core/base/wire.h"
#include "formats/inputs/input_kind.h"
#include "formats/io/compressed_source.h"
#include "formats/io/made_ahead.h"
#include "formats/log/commit_log_format.h"
#include "formats/log/commit_log_reader.h"
#include "formats/ops/ops_jsonl.h"

namespace ringscope {
namespace {

constexpr const char* kExpected =
    "expected a .tblog or an .ops.jsonl, plain or compressed by zstd or gzip";

/// Checks that a text, decompressed, is of operations. @param start of the file
Status CheckOperations(const std::string& content, const std::string& start,
                       const std::string& path) {
  if (KindOfStart(content) == InputKind::kLog) return {};
  const bool is_trace = KindOfStart(start) == InputKind::kTrace;
  return tl::unexpected<Error>(WrongContent(
      start, path, "a log",
      is_trace ? "it has the packets that came out, not the commits that are replayed: 'ringscope "
                 "doctor' examines it, 'ringscope import' makes a log of what is left"
               : kExpected));
}

}  // namespace

Result<std::unique_ptr<LogSource>> OpenLog(const std::string& path) {
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  return OpenLog(std::move(source));
}

Result<std::unique_ptr<LogSource>> OpenLog(std::unique_ptr<ByteSource> source,
                                           CommitLogObserver* observer) {
  RS_ASSIGN_OR_RETURN(std::string start, source->Peek(commit_log::kStartFrameSize));
  if (start.empty())
    return Fail(ErrorCode::kCorrupt, "the file is empty", {source->path(), {}, {}},
                "expected a .tblog or an .ops.jsonl; a recorder that was killed at its start, or a "
                "copy that failed, leaves an empty file");
  if (commit_log::LooksLikeCommitLog(wire::AsBytes(start)))
    return MakeCommitLogReader(std::move(source), observer);
  RS_ASSIGN_OR_RETURN(start, source->Peek(kKindBytes));
  const std::string path = source->path();
  std::unique_ptr<CompressedSource> content = MakeSourceFor(wire::AsBytes(start), source);
  if (!content) {
    RS_RETURN_IF_ERROR(CheckOperations(start, start, path));
    return MakeOpsReader(std::move(source), LogFormat::kOps);
  }
  RS_ASSIGN_OR_RETURN(const std::string inner, content->Peek(kKindBytes));
  if (inner.empty())
    return Fail(ErrorCode::kCorrupt, "the file is empty once it is decompressed", {path, {}, {}},
                kExpected);
  const Bytes bytes = wire::AsBytes(inner);
  const bool is_commit_log = commit_log::LooksLikeCommitLog(bytes);
  if (!is_commit_log && (IsZstd(bytes) || IsGzip(bytes))) {
    return Fail(ErrorCode::kUnsupported, "the input is compressed twice", {path, {}, {}},
                "decompress it once");
  }
  if (!is_commit_log) RS_RETURN_IF_ERROR(CheckOperations(inner, start, path));
  const CompressedSource* const compressed = content.get();
  source = std::move(content);
  if (is_commit_log) return MakeCommitLogReader(std::move(source), observer);
  if (PaysToReadAhead(compressed->compressed_size()))
    source = MakeReadAheadSource(std::move(source));
  return MakeOpsReader(std::move(source),
                       IsZstd(wire::AsBytes(start)) ? LogFormat::kZstdOps : LogFormat::kGzipOps,
                       compressed);
}

}  // namespace ringscope
