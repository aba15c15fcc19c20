#ifndef RINGSCOPE_FORMATS_OPS_OPS_JSONL_H_
#define RINGSCOPE_FORMATS_OPS_OPS_JSONL_H_

#include "core/log/op.h"
#include "core/perfetto/commit_request.h"
#include "formats/io/compressed_source.h"
#include "formats/io/log_source.h"
#include "formats/io/output_file.h"

namespace ringscope {

/// Reads `.ops.jsonl`. A line that is no operation is damage, and counts as a record. Memory: one
/// line.
/// @param compressed source of the text, if it is compressed: for progress
std::unique_ptr<LogSource> MakeOpsReader(std::unique_ptr<ByteSource> text, LogFormat format,
                                         const CompressedSource* compressed = nullptr);

inline constexpr OutputKind kOpsOutput = {"a log", true};

inline constexpr size_t kMaxOpsLine = size_t{64} << 20;

/// Returns a record as a line without its break: "commit" or "patch" if these can express it, else
/// "request". Reading the line gives an equal record.
std::string FormatOp(const Op& op);

/// Returns a log: a note, and the records, a line each.
std::string FormatLog(const std::string& note, const std::vector<StoredOp>& ops);

/// FormatOp for many records: keeps its memory.
class OpLineWriter {
 public:
  /// Appends what FormatOp returns.
  void Append(const Op& op, std::string& out);

 private:
  CommitRequestParser parser_;
  std::string canonical_;
};

/// Parses one line. The record's spans point into `storage`. Errors name the key, not the line.
Result<Op> ParseOp(std::string_view line, std::string& storage);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_OPS_OPS_JSONL_H_
