#ifndef RINGSCOPE_COMMANDS_TESTING_SERVICE_JOURNAL_H_
#define RINGSCOPE_COMMANDS_TESTING_SERVICE_JOURNAL_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/log/op.h"
#include "core/perfetto/commit_request.h"

namespace ringscope::testing {

/// A producer whose connection has ended.
struct GoneProducer {
  std::string received;  // all bytes of its requests
  uint64_t scraping_mode = 0;
};

/// What producers have done to a service, in order. Safe for several threads.
class ServiceJournal {
 public:
  void Note(const std::string& producer, const std::string& effect);
  /// The effects of a commit. @param chunks with their bytes
  void NoteCommit(const std::string& producer, Bytes chunks, std::optional<uint64_t> flush);
  void NoteEnd(const std::string& producer, GoneProducer gone);
  /// The service reads a session's buffers for its file.
  void NoteRead() { Note("service", "read"); }

  /// Returns the effects, as "NAME: chunk ...".
  std::vector<std::string> effects() const;
  /// Waits until so many producers have gone. @return by their names
  std::map<std::string, GoneProducer> WaitForEnds(size_t count);

 private:
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<std::string> effects_;
  std::map<std::string, GoneProducer> gone_;
};

/// What a log reports was done to the service's buffers, in the words of the journal.
std::vector<std::string> EffectsOf(const std::vector<Op>& log);

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_SERVICE_JOURNAL_H_
