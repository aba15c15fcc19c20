#include "formats/log/commit_log_reader.h"

#include <fmt/format.h>

#include "core/base/wire.h"
#include "formats/log/commit_log_format.h"
#include "formats/log/commit_log_index.h"
#include "formats/log/record_codec.h"

namespace ringscope {
FramesAhead::FramesAhead(std::unique_ptr<ZstdFrameReader> reader, bool keep_whole)
    : reader_(std::move(reader)), keep_whole_(keep_whole) {
  if (PaysToReadAhead(reader_->source().size()))
    ahead_.emplace(kAheadBytes, [this](Frame& frame) { return Read(frame); });
}

Result<std::optional<FrameOrBad>> FramesAhead::Next() {
  if (!ahead_) return reader_->Next();
  const Frame& frame = ahead_->Next();
  position_ = frame.position;
  return frame.item;
}

FramesAhead::Ahead::Made FramesAhead::Read(Frame& into) {
  into.item = reader_->Next();
  into.position = reader_->position();
  if (!into.item || !*into.item) return {.size = 0, .last = true};
  auto* frame = std::get_if<ZstdFrame>(&**into.item);
  if (frame == nullptr) return {.size = 0};
  // The reader's window moves on: what is in it is copied, what was decompressed is swapped.
  const bool skippable = frame->skippable();
  into.whole.clear();
  if (skippable || keep_whole_) into.whole.assign(frame->whole.begin(), frame->whole.end());
  frame->whole = into.whole;
  if (skippable)
    frame->content = frame->whole.last(frame->content.size());
  else
    reader_->SwapContent(into.content);
  return {.size = frame->content.size() + into.whole.size()};
}

namespace {

using commit_log::kIndexFrameMagic;
using commit_log::kSeekTableFrameMagic;
using commit_log::kStartFrameMagic;

constexpr ZstdFrameReader::Limits kLimits = {.content = commit_log::kMaxFrameContent,
                                             .skippable = commit_log::kMaxIndexBytes};

/// Returns the number of the first record of a data frame's content; nullopt if it does not begin
/// with a numbered record.
std::optional<uint64_t> FirstNumber(Bytes content) {
  const auto field = wire::FieldReader(content).Next();
  if (!field || !field->IsBytes(commit_log::kRecord)) return std::nullopt;
  return wire::FirstVarint(field->bytes, commit_log::kNumber);
}

class Reader : public LogSource {
 public:
  Reader(std::unique_ptr<ByteSource> source, CommitLogObserver* observer)
      : frames_(
            std::make_unique<ZstdFrameReader>(std::move(source), kLimits, commit_log::IsOwnFrame),
            /*keep_whole=*/observer != nullptr),
        observer_(observer) {}

  Result<std::optional<Op>> Next() override {
    for (;;) {
      while (auto field = records_.Next()) {
        if (!field->IsBytes(commit_log::kRecord)) continue;
        RS_ASSIGN_OR_RETURN(std::optional<Op> op, TakeRecord(field->bytes));
        if (op) return op;
      }
      if (!records_.ok())
        AddGap({.offset = frame_offset_,
                .what = "the rest of a frame's content is not well-formed protobuf"});
      records_ = wire::FieldReader({});
      RS_ASSIGN_OR_RETURN(const bool more, NextFrame());
      if (!more) return std::nullopt;
    }
  }

  LogFormat format() const override { return LogFormat::kCommitLog; }
  const std::string& path() const override { return frames_.source().path(); }
  bool closed() const override { return others_closed_ && has_index_; }
  bool cleanly_closed() const override { return closed() && others_ended_ && has_ended_; }
  uint64_t record_number() const override { return record_number_; }
  uint64_t position() const override { return frames_.position(); }
  std::optional<uint64_t> size() const override { return frames_.source().size(); }

 private:
  /// @return nullopt for a record that is skipped
  Result<std::optional<Op>> TakeRecord(Bytes encoded) {
    const uint64_t number = next_number_++;
    record_number_ = file_base_ + number;
    Result<std::optional<Op>> decoded = commit_log::DecodeRecord(encoded);
    if (!decoded) {
      AddDamage({frame_offset_, 0, record_number_, 1, std::move(decoded).error().message});
      return std::nullopt;
    }
    const Op* const op = *decoded ? &**decoded : nullptr;
    if (op == nullptr) ++unknown_records_;
    const auto* const header = op != nullptr ? std::get_if<LogHeader>(&op->body) : nullptr;
    if (header != nullptr && header->format_version > commit_log::kNewestVersion)
      return Fail(ErrorCode::kUnsupported,
                  fmt::format("the log has format version {}, this program reads up to version {}",
                              header->format_version, commit_log::kNewestVersion),
                  {path(), frame_offset_, {}}, "use a newer ringscope");
    if (observer_) observer_->OnRecord(op, encoded);
    return decoded;
  }

  /// @return false at the end of the input
  Result<bool> NextFrame() {
    RS_ASSIGN_OR_RETURN(const auto item, frames_.Next());
    if (!item) return false;
    if (const auto* bad = std::get_if<BadRange>(&*item)) {
      TakeBadRange(*bad);
      return true;
    }
    const auto& frame = std::get<ZstdFrame>(*item);
    if (!std::exchange(at_start_seen_, true) && frame.magic != kStartFrameMagic)
      AddDamage({.offset = frame.offset,
                 .records = 0,
                 .what = "the file does not begin with a commit log's first frame"});
    if (frame.skippable())
      TakeSkippable(frame);
    else
      TakeData(frame);
    return true;
  }

  void TakeBadRange(const BadRange& bad) {
    at_start_seen_ = true;
    Damage damage{bad.offset, bad.bytes, {}, {}, bad.what};
    // Frames without records are recognized by their magic numbers.
    has_index_ = has_index_ || bad.magic == kIndexFrameMagic;  // a damaged end is an end
    if (bad.magic == kIndexFrameMagic || bad.magic == kSeekTableFrameMagic) damage.records = 0;
    if (damage.records)
      AddDamage(std::move(damage));
    else
      AddGap(std::move(damage));
  }

  void TakeSkippable(const ZstdFrame& frame) {
    if (observer_) observer_->OnFrame(frame);
    const bool is_own = commit_log::IsOwnFrame(frame);
    const bool is_start = frame.magic == kStartFrameMagic;
    if (is_start && frame.offset > 0) others_ended_ = others_ended_ && has_ended_;
    if (frame.magic == kSeekTableFrameMagic)
      has_ended_ = is_own;
    else if (is_start || frame.magic == kIndexFrameMagic)
      has_ended_ = false;
    if (!is_own) {
      const char* what = is_start                              ? "a first frame with a wrong text"
                         : frame.magic == kIndexFrameMagic     ? "an index with a wrong checksum"
                         : frame.magic == kSeekTableFrameMagic ? "a malformed seek table"
                                                               : nullptr;  // another tool's
      if (what != nullptr) AddDamage({frame.offset, frame.whole.size(), {}, 0, what});
      return;
    }
    if (is_start) {
      others_closed_ = others_closed_ && (has_index_ || frame.offset == 0);
      has_index_ = false;
      StartFile();
    }
    if (frame.magic == kIndexFrameMagic) {
      has_index_ = true;
      // The index knows how many records the file had: what is missing at its end is known.
      const std::optional<uint64_t> records = commit_log::IndexRecords(frame.content);
      if (records && *records >= next_number_) MoveTo(*records, frame.offset);
    }
  }

  /// Record numbers start again: another log was appended.
  void StartFile() {
    file_base_ += next_number_;
    next_number_ = 0;
    gap_.reset();
  }

  void TakeData(const ZstdFrame& frame) {
    frame_offset_ = frame.offset;
    const std::optional<uint64_t> number = FirstNumber(frame.content);
    if (number == 0 && next_number_ > 0) StartFile();  // its first frame was lost
    has_index_ = false;
    if (number) MoveTo(*number, frame_offset_);
    gap_.reset();
    has_ended_ = false;
    ++data_frames_;
    raw_bytes_ += frame.content.size();
    if (observer_) observer_->OnFrame(frame);
    records_ = wire::FieldReader(frame.content);
  }

  /// The next record in the file is `number`: those before it that were not read are lost.
  void MoveTo(uint64_t number, uint64_t offset) {
    const uint64_t expected = std::exchange(next_number_, number);
    const std::optional<uint64_t> gap = std::exchange(gap_, std::nullopt);
    if (number < expected) {
      AddDamage({.offset = offset,
                 .records = 0,
                 .what = fmt::format("record numbers go back from {} to {}: frames are repeated or "
                                     "not in their order",
                                     file_base_ + expected, file_base_ + number)});
    } else if (gap && *gap < damage_.size()) {
      damage_[*gap].records = number - expected;  // 0: the bytes held no records
      if (number > expected) damage_[*gap].first_record = file_base_ + expected;
    } else if (!gap && number > expected) {
      AddDamage({offset, 0, file_base_ + expected, number - expected, "frames are missing here"});
    }
  }

  /// Adds damage whose lost records become known with the next intact frame. Of several, the first
  /// gets all of them.
  void AddGap(Damage damage) {
    AddDamage(std::move(damage));
    if (!gap_) gap_ = damage_count_ - 1;
  }

  FramesAhead frames_;
  CommitLogObserver* observer_;
  wire::FieldReader records_{Bytes{}};  // of the current frame
  uint64_t frame_offset_ = 0;
  bool at_start_seen_ = false;
  bool has_index_ = false;     // the current one of several concatenated files
  bool others_closed_ = true;  // the files before it have one
  bool has_ended_ = false;     // the last frame is a seek table
  bool others_ended_ = true;   // so are those of the files before

  uint64_t file_base_ = 0;    // records before the current one of several concatenated files
  uint64_t next_number_ = 0;  // in that file
  uint64_t record_number_ = 0;
  std::optional<uint64_t> gap_;  // index in damage_: see AddGap
};

}  // namespace

std::unique_ptr<LogSource> MakeCommitLogReader(std::unique_ptr<ByteSource> source,
                                               CommitLogObserver* observer) {
  return std::make_unique<Reader>(std::move(source), observer);
}

namespace commit_log {

bool LooksLikeCommitLog(Bytes start) {
  const std::string expected = StartFrame();
  const size_t size = std::min(start.size(), expected.size());
  size_t equal = 0;
  for (size_t i = 0; i < size; ++i) equal += static_cast<uint8_t>(expected[i]) == start[i];
  return size > 0 && equal * 4 >= size * 3;
}

bool IsOwnFrame(const ZstdFrame& frame) {
  switch (frame.magic) {
    case kZstdMagic:
      return FirstNumber(frame.content).has_value();
    case kStartFrameMagic:
      return wire::AsText(frame.content) == kStartText;
    case kIndexFrameMagic:
      return IndexRecords(frame.content).has_value();
    case kSeekTableFrameMagic:
      return IsSeekTable(frame.content);
    default:
      return false;
  }
}

}  // namespace commit_log

}  // namespace ringscope
