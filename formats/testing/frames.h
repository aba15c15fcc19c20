#ifndef RINGSCOPE_FORMATS_TESTING_FRAMES_H_
#define RINGSCOPE_FORMATS_TESTING_FRAMES_H_

#include <zstd.h>

#include <string>

namespace ringscope::testing {

/// Bytes as a data frame.
inline std::string DataFrame(const std::string& content, bool checksum = true) {
  std::string frame(ZSTD_compressBound(content.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum ? 1 : 0);
  frame.resize(ZSTD_compress2(context, frame.data(), frame.size(), content.data(), content.size()));
  ZSTD_freeCCtx(context);
  return frame;
}

/// @param content up to 127 bytes
inline std::string SkippableFrame(const std::string& content) {
  using namespace std::string_literals;
  return "\x50\x2a\x4d\x18"s + static_cast<char>(content.size()) + std::string(3, '\0') + content;
}

}  // namespace ringscope::testing

#endif  // RINGSCOPE_FORMATS_TESTING_FRAMES_H_
