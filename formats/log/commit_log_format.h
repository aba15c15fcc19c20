#ifndef RINGSCOPE_FORMATS_LOG_COMMIT_LOG_FORMAT_H_
#define RINGSCOPE_FORMATS_LOG_COMMIT_LOG_FORMAT_H_

#include "core/log/op.h"

namespace ringscope::commit_log {

// Constants of the commit log, `.tblog`. commit_log.md is the specification.

/// The version of logs with payloads.
inline constexpr uint32_t kFormatVersion = 1;
/// The newest version that is read.
inline constexpr uint32_t kNewestVersion = LogHeader::kVersionWithoutPayload;

/// The version that a log with this header has.
constexpr uint32_t VersionOf(const LogHeader& header) {
  return header.without_payload ? LogHeader::kVersionWithoutPayload : kFormatVersion;
}

// Frames. All integers of the layout are little-endian.
inline constexpr uint32_t kZstdMagic = 0xFD2FB528;
inline constexpr uint32_t kStartFrameMagic = 0x184D2A50;  // holds kStartText
inline constexpr uint32_t kIndexFrameMagic = 0x184D2A51;  // u64 XXH64 of the rest, the Index
inline constexpr uint32_t kSeekTableFrameMagic = 0x184D2A5E;
inline constexpr size_t kSkippableHeaderSize = 8;  // magic, u32 size

inline constexpr std::string_view kStartText = "ringscope commit log 1\n";
inline constexpr size_t kStartFrameSize = kSkippableHeaderSize + kStartText.size();

// The seek table, as zstd's seekable format defines it.
inline constexpr uint32_t kSeekTableFooterMagic = 0x8F92EAB1;
inline constexpr uint8_t kSeekTableDescriptor = 0x80;  // entries have checksums
inline constexpr size_t kSeekTableEntrySize = 12;
inline constexpr size_t kSeekTableFooterSize = 9;
inline constexpr size_t kIndexChecksumSize = 8;

// Limits: what a reader accepts, so that a hostile file costs it bounded memory.
inline constexpr size_t kMaxFrameContent = size_t{64} << 20;  // raw bytes of a data frame
inline constexpr size_t kMaxIndexBytes = size_t{256} << 20;   // content of the index frame
inline constexpr size_t kMaxSummaryBytes = size_t{32} << 20;  // larger ones are left out
inline constexpr size_t kMaxHeaderBytes = size_t{1} << 20;    // of a header record
/// The largest record: it fits a frame together with the header that may come before it.
inline constexpr size_t kMaxRecordBytes = kMaxFrameContent - kMaxHeaderBytes - 1024;

// Field numbers that record_fields.h does not have; commit_log.proto has all of them. The kinds of
// records follow each other in OpBody's order, from kFirstBody on.
enum CommitLogField : uint32_t { kRecord = 1 };
enum RecordField : uint32_t { kTimeNs = 1, kNumber = 2, kFirstBody = 10 };
enum CommitField : uint32_t { kOrigin = 4, kMoreParts = 7, kRequest = 8, kMalformedRequest = 9 };

/// Skippable frames have one of sixteen magic numbers.
constexpr bool IsSkippableMagic(uint32_t magic) { return (magic & ~0xFU) == kStartFrameMagic; }
constexpr bool IsFrameMagic(uint32_t magic) {
  return magic == kZstdMagic || IsSkippableMagic(magic);
}

}  // namespace ringscope::commit_log

#endif  // RINGSCOPE_FORMATS_LOG_COMMIT_LOG_FORMAT_H_
