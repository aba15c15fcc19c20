#ifndef RINGSCOPE_FORMATS_DESCRIPTORS_MERGED_FILES_H_
#define RINGSCOPE_FORMATS_DESCRIPTORS_MERGED_FILES_H_

#include <google/protobuf/descriptor.pb.h>

namespace ringscope {

/// The package of Perfetto's messages.
inline constexpr const char* kPerfettoPackage = "perfetto.protos";

/// One set from the built-in one and a user's. Both may define the same messages, in files of other
/// names; so all of Perfetto's package become one file, in which a message has the fields of both
/// (where they disagree, the user's). The user's other files follow as they are.
google::protobuf::FileDescriptorSet MergedFiles(const google::protobuf::FileDescriptorSet& built_in,
                                                const google::protobuf::FileDescriptorSet& users);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_DESCRIPTORS_MERGED_FILES_H_
