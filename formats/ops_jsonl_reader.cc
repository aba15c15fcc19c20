#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/wire.h"
#include "formats/byte_window.h"
#include "formats/ops_jsonl.h"
#include "formats/zstd_source.h"

namespace ringscope {
namespace {

/// Pulls lines out of a source of bytes.
class LineReader {
 public:
  explicit LineReader(std::unique_ptr<ByteSource> source) : window_(std::move(source)) {}

  /// The next line without its line break, valid until the next call; nullopt: the end.
  Result<std::optional<std::string_view>> Next() {
    window_.Drop(std::exchange(returned_, 0));
    ++number_;
    size_t searched = 0;
    while (true) {
      const std::string_view text = wire::AsText(window_.bytes());
      const size_t found = text.find('\n', searched);
      if (std::min(found, text.size()) > kMaxOpsLine) return FailTooLong();
      if (found != std::string_view::npos) {
        returned_ = found + 1;
        return text.substr(0, found);
      }
      searched = text.size();
      RS_ASSIGN_OR_RETURN(const bool more, window_.Fill(searched + 1));
      if (more) continue;
      if (searched == 0) return std::nullopt;
      returned_ = searched;  // the last line may lack its line break
      return wire::AsText(window_.bytes());
    }
  }

  /// Of the line returned last.
  Where Here() const { return Where{window_.source().path(), {}, number_}; }
  const ByteSource& source() const { return window_.source(); }
  uint64_t position() const { return window_.offset() + returned_; }

 private:
  tl::unexpected<Error> FailTooLong() const {
    return Fail(ErrorCode::kLimit,
                fmt::format("the line is longer than {} bytes, the longest supported", kMaxOpsLine),
                Here());
  }

  ByteWindow window_;
  size_t returned_ = 0;  // bytes at the window's front that the last call returned
  uint64_t number_ = 0;
};

bool IsBlankOrComment(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t\r");
  return first == std::string_view::npos || line[first] == '#';
}

class OpsReader : public LogSource {
 public:
  OpsReader(std::unique_ptr<ByteSource> text, LogFormat format)
      : zstd_(dynamic_cast<const ZstdSource*>(text.get())),
        lines_(std::move(text)),
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
