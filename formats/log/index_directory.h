#ifndef RINGSCOPE_FORMATS_LOG_INDEX_DIRECTORY_H_
#define RINGSCOPE_FORMATS_LOG_INDEX_DIRECTORY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/log/commit_log_index.h"

namespace ringscope::commit_log {

/// Numbers of Index's fields.
enum IndexField : uint32_t {
  kIndexRecords = 1,
  kIndexFrame = 2,
  kIndexSession = 3,
  kIndexDirectory = 4,
};

/// Data frames that follow each other, up to kFramesPerBlock, and where their entries are.
struct IndexBlock {
  /// What the frames' entries add up to; in frame_hash the hash of the entries' bytes.
  IndexEntry sum;
  uint64_t frames = 0;
  uint64_t entries_size = 0;  // bytes of the entries in the index

  friend bool operator==(const IndexBlock&, const IndexBlock&) = default;
};

/// The index of an index: which parts of it have what. With it a reader needs only these parts.
struct IndexDirectory {
  uint64_t index_offset = 0;       // of the index frame in its file
  uint64_t records = 0;            // of the file
  uint64_t entries_offset = 0;     // of the first block's entries in the Index message
  std::vector<IndexBlock> blocks;  // in order; their entries follow each other
  uint64_t sessions_size = 0;      // bytes of the summaries, which follow the entries
  uint64_t sessions_hash = 0;

  friend bool operator==(const IndexDirectory&, const IndexDirectory&) = default;
};

void Fields(auto& field, Like<IndexBlock> auto& m) {
  field(1, m.sum);
  field(2, m.frames);
  field(3, m.entries_size);
}

void Fields(auto& field, Like<IndexDirectory> auto& m) {
  field(1, m.index_offset);
  field(2, m.records);
  field(3, m.entries_offset);
  field(4, m.blocks);
  field(5, m.sessions_size);
  field(6, m.sessions_hash);
}

/// The fields of an Index message.
struct IndexFields {
  uint64_t records = 0;
  size_t entries_offset = 0;  // in the message
  Bytes entries;              // the fields with the frames' entries
  Bytes sessions;             // the fields with the summaries
  Bytes directory;            // its content; empty: there is none
};
/// @return nullopt: not such a message, or its fields are not in the order of their numbers
std::optional<IndexFields> SplitIndex(Bytes message);

/// The directory of an index's fields.
/// @return nullopt: the entries do not lead from the file's start to the index
std::optional<IndexDirectory> MakeDirectory(const IndexFields& index, uint64_t index_offset);

/// The directory as it ends the Index message, field and all.
std::string EncodeDirectory(const IndexDirectory& directory);
/// Bytes of the directory that comes before a footer; nullopt: it is not a directory's.
/// @param footer the last kDirectoryFooterSize bytes of an index
std::optional<size_t> DirectorySize(Bytes footer);
/// @param content of the field: directory and footer
/// @return nullopt: not one whose hash is right, or its blocks do not lead to the index
std::optional<IndexDirectory> DecodeDirectory(Bytes content);

}  // namespace ringscope::commit_log

#endif  // RINGSCOPE_FORMATS_LOG_INDEX_DIRECTORY_H_
