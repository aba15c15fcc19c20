#ifndef RINGSCOPE_FORMATS_INPUTS_IMPORTED_TRACES_H_
#define RINGSCOPE_FORMATS_INPUTS_IMPORTED_TRACES_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "formats/io/temporary_file.h"

namespace ringscope {

/// The state of an input: no trace, or a trace that was read wholly or partly.
enum class ImportedTrace { kNone, kWhole, kDamaged };

/// The logs that were made of traces in a run: each trace is imported once. Safe from all threads.
class ImportedTraces {
 public:
  /// Opens a trace as a log.
  /// @param import writes the log if the trace is new. @return true if all of the trace could be
  /// read
  Result<std::unique_ptr<ByteSource>> Open(const std::string& path,
                                           const std::function<Result<bool>(ByteSink&)>& import);
  /// Returns the state of the input of this path.
  ImportedTrace Find(const std::string& path);

 private:
  std::mutex mutex_;
  struct Imported {
    std::shared_ptr<const TemporaryFile> log;
    ImportedTrace state{};
  };
  std::map<std::string, Imported> logs_;  // by the trace's path
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INPUTS_IMPORTED_TRACES_H_
