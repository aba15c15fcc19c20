#include <fmt/format.h>

#include <string>
#include <utility>

#include "formats/io/line_reader.h"
#include "formats/ops/ops_jsonl.h"

namespace ringscope {
namespace {

class OpsReader : public LogSource {
 public:
  OpsReader(std::unique_ptr<ByteSource> text, LogFormat format, const CompressedSource* compressed)
      : compressed_(compressed), lines_(std::move(text), kMaxOpsLine), format_(format) {}

  Result<std::optional<Op>> Next() override {
    RS_RETURN_IF_ERROR(status_);
    while (!at_end_) {
      auto line = lines_.Next();
      if (!line && line.error().code == ErrorCode::kLimit) {
        AddBadLine(0, line.error());
      } else if (!line && line.error().code == ErrorCode::kCorrupt) {
        AddEnd(line.error());
      } else if (!line) {
        status_ = tl::unexpected<Error>(line.error());
        return tl::unexpected<Error>(std::move(line).error());
      } else if (!*line) {
        at_end_ = true;
      } else if (!IsBlankOrComment(**line)) {
        auto op = ParseOp(**line, storage_);
        if (op) {
          ++records_;
          return std::move(*op);
        }
        AddBadLine((*line)->size(), op.error());
      }
    }
    return std::nullopt;
  }

  LogFormat format() const override { return format_; }
  const std::string& path() const override { return lines_.source().path(); }
  uint64_t record_number() const override { return records_ == 0 ? 0 : records_ - 1; }
  uint64_t position() const override {
    return compressed_ != nullptr ? compressed_->compressed_position() : lines_.position();
  }
  std::optional<uint64_t> size() const override {
    return compressed_ != nullptr ? compressed_->compressed_size() : lines_.source().size();
  }

 private:
  /// A line that is no operation takes the number that its record would have had.
  void AddBadLine(size_t bytes, const Error& error) {
    const uint64_t line = lines_.Here().line.value_or(0);
    AddDamage(
        {lines_.start(), bytes, records_, 1, fmt::format("line {}: {}", line, error.message)});
    ++records_;
  }

  /// Notes that the rest cannot be decompressed.
  void AddEnd(const Error& error) {
    const uint64_t line = lines_.Here().line.value_or(0);
    at_end_ = true;
    AddDamage(
        {lines_.start(), 0, records_, {}, fmt::format("from line {} on: {}", line, error.message)});
  }

  const CompressedSource* const compressed_;  // what lines_ reads comes from it
  LineReader lines_;
  const LogFormat format_;
  std::string storage_;
  uint64_t records_ = 0;
  bool at_end_ = false;
  Status status_;
};

}  // namespace

std::unique_ptr<LogSource> MakeOpsReader(std::unique_ptr<ByteSource> text, LogFormat format,
                                         const CompressedSource* compressed) {
  return std::make_unique<OpsReader>(std::move(text), format, compressed);
}

}  // namespace ringscope
