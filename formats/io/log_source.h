#ifndef RINGSCOPE_FORMATS_IO_LOG_SOURCE_H_
#define RINGSCOPE_FORMATS_IO_LOG_SOURCE_H_

#include <fmt/format.h>

#include "core/base/enum_names.h"
#include "core/log/op.h"
#include "formats/io/byte_stream.h"

namespace ringscope {

/// A part of an input that could not be used; reading continued after it.
struct Damage {
  uint64_t offset = 0;                        // bytes from the file's start
  uint64_t bytes = 0;                         // of the file
  std::optional<uint64_t> first_record = {};  // lost record numbers, where known
  std::optional<uint64_t> records = {};
  std::string what = {};     // in words
  bool is_left_out = false;  // it is not damaged, but larger than what is read

  /// "at byte 123: 456 bytes lost (records 7 to 9): what"
  std::string ToString() const {
    const uint64_t count = records.value_or(0);
    std::string lost = fmt::format("{} {}", count, count == 1 ? "record" : "records");
    if (first_record)
      lost = count == 1 ? fmt::format("record {}", *first_record)
                        : fmt::format("records {} to {}", *first_record, *first_record + count - 1);
    std::string text = fmt::format("at byte {}: ", offset);
    if (bytes > 0)
      text += fmt::format("{} {} lost{}: ", bytes, bytes == 1 ? "byte" : "bytes",
                          count == 0 ? "" : " (" + lost + ")");
    else if (count > 0)
      text += fmt::format("{} lost: ", lost);
    return text + what;
  }
};

enum class LogFormat : uint8_t { kCommitLog, kOps, kZstdOps, kGzipOps };
template <>
inline constexpr auto kEnumRows<LogFormat> = EnumTable<EnumRow<LogFormat>>({
    {LogFormat::kCommitLog, "commit_log", "commit log"},
    {LogFormat::kOps, "ops", "operations"},
    {LogFormat::kZstdOps, "ops_zstd", "operations, zstd-compressed"},
    {LogFormat::kGzipOps, "ops_gzip", "operations, gzip-compressed"},
});

/// A log being read, whatever its format.
class LogSource : public OpSource {
 public:
  virtual LogFormat format() const = 0;
  virtual const std::string& path() const = 0;
  /// Damage met so far: at most kMaxDamage entries, and the count of all.
  const std::vector<Damage>& damage() const { return damage_; }
  uint64_t damage_count() const { return damage_count_; }
  /// Records met so far of kinds that this version does not know; they are skipped.
  uint64_t unknown_records() const { return unknown_records_; }
  /// Returns true, after the last record, if the log's writer ended it. Texts are always closed.
  virtual bool closed() const { return true; }
  /// Data frames of a commit log so far, and bytes of the records in them; of texts none.
  uint64_t data_frames() const { return data_frames_; }
  uint64_t raw_bytes() const { return raw_bytes_; }
  /// Returns true, after the last record, if each file in it ends with an index and a seek table.
  virtual bool cleanly_closed() const { return false; }
  /// Number in the file of the record that Next() returned last; 0-based.
  virtual uint64_t record_number() const = 0;
  /// Progress: input bytes consumed, and their total where it is known.
  virtual uint64_t position() const = 0;
  virtual std::optional<uint64_t> size() const = 0;

  static constexpr size_t kMaxDamage = 1000;

 protected:
  void AddDamage(Damage damage) {
    ++damage_count_;
    if (damage_.size() < kMaxDamage) damage_.push_back(std::move(damage));
  }

  std::vector<Damage> damage_;
  uint64_t damage_count_ = 0;
  uint64_t unknown_records_ = 0;
  uint64_t data_frames_ = 0, raw_bytes_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_LOG_SOURCE_H_
