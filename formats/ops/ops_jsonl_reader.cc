#include <string>
#include <utility>
#include <vector>

#include "formats/io/line_reader.h"
#include "formats/io/zstd_source.h"
#include "formats/ops/ops_jsonl.h"

namespace ringscope {
namespace {

class OpsReader : public LogSource {
 public:
  OpsReader(std::unique_ptr<ByteSource> text, LogFormat format)
      : zstd_(dynamic_cast<const ZstdSource*>(text.get())),
        lines_(std::move(text), kMaxOpsLine),
        format_(format) {}

  Result<std::optional<Op>> Next() override {
    RS_RETURN_IF_ERROR(status_);
    auto op = ReadOp();
    if (!op) status_ = tl::unexpected<Error>(op.error());
    return op;
  }

  LogFormat format() const override { return format_; }
  const std::string& path() const override { return lines_.source().path(); }
  const std::vector<Damage>& damage() const override { return damage_; }
  uint64_t damage_count() const override { return 0; }
  uint64_t record_number() const override { return records_ == 0 ? 0 : records_ - 1; }
  uint64_t position() const override {
    return zstd_ != nullptr ? zstd_->compressed_position() : lines_.position();
  }
  std::optional<uint64_t> size() const override {
    return zstd_ != nullptr ? zstd_->compressed_size() : lines_.source().size();
  }

 private:
  Result<std::optional<Op>> ReadOp() {
    while (true) {
      RS_ASSIGN_OR_RETURN(const std::optional<std::string_view> line, lines_.Next());
      if (!line) return std::nullopt;
      if (IsBlankOrComment(*line)) continue;
      auto op = ParseOp(*line, storage_);
      if (!op) {
        op.error().where = lines_.Here();
        return tl::unexpected<Error>(std::move(op.error()));
      }
      ++records_;
      return std::move(*op);
    }
  }

  const ZstdSource* zstd_;  // what lines_ reads, if it is that: knows the file's position
  LineReader lines_;
  LogFormat format_;
  std::string storage_;
  uint64_t records_ = 0;
  Status status_;
  const std::vector<Damage> damage_;  // stays empty: an error in a text is an error
};

}  // namespace

std::unique_ptr<LogSource> MakeOpsReader(std::unique_ptr<ByteSource> text, LogFormat format) {
  return std::make_unique<OpsReader>(std::move(text), format);
}

}  // namespace ringscope
