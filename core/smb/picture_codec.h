#ifndef RINGSCOPE_CORE_SMB_PICTURE_CODEC_H_
#define RINGSCOPE_CORE_SMB_PICTURE_CODEC_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/smb/memory_picture.h"

namespace ringscope::smb {

// What changed from one picture of a memory to the next, as `pages` of a SharedMemoryLook has it:
// runs of pages with the same bitmap. formats/log/commit_log.md has the specification.

/// Appends what turns `before` into `now`, which has as many pages; nothing if they are the same.
void AppendChanges(const MemoryPicture& before, const MemoryPicture& now, std::string& out);

/// Makes the changes. kCorrupt: they are no changes of a memory of so many pages; the picture is of
/// no use then.
/// @param changed the pages are appended here, in ascending order; nullptr: they are not
Status ApplyChanges(Bytes changes, MemoryPicture& picture, std::vector<size_t>* changed = nullptr);

}  // namespace ringscope::smb

#endif  // RINGSCOPE_CORE_SMB_PICTURE_CODEC_H_
