#ifndef RINGSCOPE_COMMANDS_LOG_DUMP_TEXT_H_
#define RINGSCOPE_COMMANDS_LOG_DUMP_TEXT_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/log/op.h"
#include "core/log/record_filter.h"
#include "core/perfetto/commit_fragments.h"
#include "core/perfetto/commit_request.h"
#include "core/session/session_clock.h"
#include "formats/descriptors/descriptors.h"

namespace ringscope {

/// What a fragment is part of, where that is not a whole packet: "of a packet that continues in the
/// next chunk".
std::string_view FragmentNote(FragmentKind kind);

/// Bytes as offset, hex and characters, sixteen to a line.
std::vector<std::string> HexLines(Bytes bytes);

/// The fragments of a chunk, one to a line: offset (as patches count it, from the payload's first
/// byte), size, what it is of its packet, and the top-level fields that begin in it. The fields of
/// a fragment that continues a packet cannot be found without the chunks before. After them, what
/// the chunk has after its last fragment.
/// @param written of the commit
std::vector<std::string> FragmentLines(const ChunkCommit& commit, const WrittenChunk& written,
                                       const Descriptors& descriptors);

/// What follows a commit's chunks.
struct ChunkDetail {
  bool hex = false;        // their bytes
  bool fragments = false;  // what their fragments are
  bool decode = false;     // the packets that are whole in them, as text
  bool any() const { return hex || fragments || decode; }
};

/// Writes records as lines for people: number, time (since the session's start: in seconds), kind
/// and content. A commit has a line for each chunk, each patched chunk and a completed flush;
/// messages that a record has as bytes follow it as text.
class RecordText {
 public:
  /// Columns of number and time, in front of each line.
  static constexpr size_t kMargin = 25;

  /// @param filter whose chunks and patches are shown; must outlive this, like the descriptors
  /// @param base of the times
  RecordText(const RecordFilter& filter, const Descriptors& descriptors, ChunkDetail detail,
             TimeBase base = TimeBase::kSession)
      : filter_(filter), descriptors_(descriptors), detail_(detail), clock_(base) {}

  void StartSession() {
    identities_.clear();
    clock_ = SessionClock(clock_.base());
  }
  /// Takes note of a record, shown or not: a commit shows only what differs from its producer.
  void Observe(const Op& op);
  const SessionClock& clock() const { return clock_; }
  /// @return the lines, as they are until the next call
  const std::vector<std::string>& Format(const Op& op, uint64_t number);

 private:
  /// Adds a line; only a record's first line has number and time.
  void Line(std::string_view kind, const std::string& what);
  /// Adds the lines of a text below the record's.
  void Block(std::string_view text);
  void FormatCommit(const Commit& commit);
  std::string CommitSuffix(const Commit& commit);
  /// The message that the record has as bytes.
  std::string DecodedText(const OpBody& body) const;
  /// Adds what a chunk has in it, as `detail` asks for.
  void AddContent(ProducerId producer, const ChunkToMove& chunk);
  /// Adds the packets of a chunk that are whole in it; of others, how long their fragment is.
  void AddPackets(const ChunkCommit& commit);

  const RecordFilter& filter_;
  const Descriptors& descriptors_;
  const ChunkDetail detail_;
  SessionClock clock_;
  WrittenChunk written_;  // scratch
  CommitRequestParser parser_;
  std::map<ProducerId, Identity> identities_;  // of the session's producers
  std::string margin_;                         // number and time of the current record
  std::vector<std::string> lines_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOG_DUMP_TEXT_H_
