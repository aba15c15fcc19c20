#ifndef RINGSCOPE_FORMATS_DESCRIPTORS_MERGED_FILES_H_
#define RINGSCOPE_FORMATS_DESCRIPTORS_MERGED_FILES_H_

#include <google/protobuf/descriptor.pb.h>

namespace ringscope {

/// The package of Perfetto's messages.
inline constexpr const char* kPerfettoPackage = "perfetto.protos";

/// Merges a user's set into the built-in one. All of Perfetto's package becomes one file, in which
/// a message has the fields of both; where they disagree, the user's.
google::protobuf::FileDescriptorSet MergedFiles(const google::protobuf::FileDescriptorSet& built_in,
                                                const google::protobuf::FileDescriptorSet& users);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_DESCRIPTORS_MERGED_FILES_H_
