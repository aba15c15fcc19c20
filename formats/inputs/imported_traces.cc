#include "formats/inputs/imported_traces.h"

#include <utility>

namespace ringscope {

Result<std::unique_ptr<ByteSource>> ImportedTraces::Open(
    const std::string& path, const std::function<Result<bool>(ByteSink&)>& import) {
  const std::lock_guard lock(mutex_);
  auto known = logs_.find(path);
  if (known == logs_.end()) {
    TemporaryFileOptions options;
    options.what = "the log of a trace";
    options.path = path;
    RS_ASSIGN_OR_RETURN(std::shared_ptr<TemporaryFile> file,
                        TemporaryFile::Create(std::move(options)));
    RS_ASSIGN_OR_RETURN(const bool complete, import(*file));
    const auto state = complete ? ImportedTrace::kWhole : ImportedTrace::kDamaged;
    known = logs_.emplace(path, Imported{std::move(file), state}).first;
  }
  return OpenTemporary(known->second.log, path);
}

ImportedTrace ImportedTraces::Find(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto known = logs_.find(path);
  return known == logs_.end() ? ImportedTrace::kNone : known->second.state;
}

}  // namespace ringscope
