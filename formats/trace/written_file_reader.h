#ifndef RINGSCOPE_FORMATS_TRACE_WRITTEN_FILE_READER_H_
#define RINGSCOPE_FORMATS_TRACE_WRITTEN_FILE_READER_H_

#include <memory>

#include "core/reads/found_reads.h"
#include "formats/io/byte_stream.h"

namespace ringscope {

/// Reads a `.pftrace` that the service wrote into a file, reduced to what FindReads needs.
Result<WrittenFile> ReadWrittenFile(std::unique_ptr<ByteSource> source);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_WRITTEN_FILE_READER_H_
