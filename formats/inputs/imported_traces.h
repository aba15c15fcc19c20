#ifndef RINGSCOPE_FORMATS_INPUTS_IMPORTED_TRACES_H_
#define RINGSCOPE_FORMATS_INPUTS_IMPORTED_TRACES_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "formats/io/temporary_file.h"

namespace ringscope {

/// The logs that were made of traces in a run, in temporary files: each trace is imported once,
/// however often it is read. Safe to use from several threads.
class ImportedTraces {
 public:
  /// A trace as a log.
  /// @param import writes the log; called if the trace of this path is new
  Result<std::unique_ptr<ByteSource>> Open(const std::string& path,
                                           const std::function<Status(ByteSink&)>& import);
  /// Whether a trace of this path was imported.
  bool Has(const std::string& path);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const TemporaryFile>> logs_;  // by the trace's path
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INPUTS_IMPORTED_TRACES_H_
