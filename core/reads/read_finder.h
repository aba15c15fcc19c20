#ifndef RINGSCOPE_CORE_READS_READ_FINDER_H_
#define RINGSCOPE_CORE_READS_READ_FINDER_H_

#include "core/reads/ready_times.h"

namespace ringscope {

/// Finds the reads with which the replay of a log returns the packets of the file that the service
/// wrote: the same ones in the same order, with the same loss bits. One replay finds after which
/// record each packet could be read; the service's events in the file show which borders were
/// reads. A second replay compares what these return; a third one tries other places where needed.
/// @param find_engine as Session::Options has it
Result<FoundReads> FindReads(const OpenOps& open, const EngineLookup& find_engine,
                             const WrittenFile& file);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_READS_READ_FINDER_H_
