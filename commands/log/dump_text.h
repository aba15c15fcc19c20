#ifndef RINGSCOPE_COMMANDS_LOG_DUMP_TEXT_H_
#define RINGSCOPE_COMMANDS_LOG_DUMP_TEXT_H_

#include <map>
#include <string>

#include "core/log/op.h"
#include "core/log/record_filter.h"
#include "core/perfetto/commit_request.h"

namespace ringscope {

/// Writes records as lines for people: number, time since the session's start in seconds, kind and
/// what it says. A commit takes a line for each chunk, each patched chunk and a flush.
class RecordText {
 public:
  /// @param filter whose chunks and patches are shown; must outlive this
  explicit RecordText(const RecordFilter& filter) : filter_(filter) {}

  void StartSession() { identities_.clear(); }
  /// Takes note of a record that may or may not be shown: later ones are told against it.
  void Observe(const Op& op);
  /// @return the lines, each with its line break
  std::string Format(const Op& op, uint64_t number);

 private:
  /// Adds a line; number and time stand in a record's first line only.
  void Line(std::string_view kind, const std::string& what);
  void FormatCommit(const Commit& commit);
  std::string CommitSuffix(const Commit& commit);

  const RecordFilter& filter_;
  CommitRequestParser parser_;
  std::map<ProducerId, Identity> identities_;  // as the session's records say
  std::string margin_;                         // number and time of the record at hand
  std::string text_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOG_DUMP_TEXT_H_
