#include "formats/inputs/imported_traces.h"

#include <utility>

namespace ringscope {

Result<std::unique_ptr<ByteSource>> ImportedTraces::Open(
    const std::string& path, const std::function<Status(ByteSink&)>& import) {
  const std::lock_guard lock(mutex_);
  auto known = logs_.find(path);
  if (known == logs_.end()) {
    TemporaryFileOptions options;
    options.what = "the log of a trace";
    options.path = path;
    RS_ASSIGN_OR_RETURN(std::shared_ptr<TemporaryFile> file,
                        TemporaryFile::Create(std::move(options)));
    RS_RETURN_IF_ERROR(import(*file));
    known = logs_.emplace(path, std::move(file)).first;
  }
  return OpenTemporary(known->second, path);
}

bool ImportedTraces::Has(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return logs_.contains(path);
}

}  // namespace ringscope
