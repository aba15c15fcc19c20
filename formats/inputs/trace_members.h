#ifndef RINGSCOPE_FORMATS_INPUTS_TRACE_MEMBERS_H_
#define RINGSCOPE_FORMATS_INPUTS_TRACE_MEMBERS_H_

#include <string_view>
#include <vector>

#include "formats/io/zip_archive.h"

namespace ringscope {

/// Whether a file has a name that traces have: .pftrace, .perfetto-trace or .perfetto, perhaps
/// followed by .gz or .zst.
bool IsTraceName(std::string_view name);

/// The traces in a zip archive, such as a bug report: members that have a trace's name, or begin
/// with a trace's packet, plain or compressed. Archives inside the archive are not searched.
/// Members that cannot be read are traces if they have a name of one.
std::vector<ZipMember> FindTraces(ZipArchive& archive);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INPUTS_TRACE_MEMBERS_H_
