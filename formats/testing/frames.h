#ifndef RINGSCOPE_FORMATS_TESTING_FRAMES_H_
#define RINGSCOPE_FORMATS_TESTING_FRAMES_H_

#include <zlib.h>
#include <zstd.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "formats/log/record_codec.h"

namespace ringscope::testing {

/// A record with its number, as it is in a data frame.
inline std::string Encoded(const OpBody& body, std::optional<uint64_t> number = {}) {
  std::string encoded;
  commit_log::AppendRecord(Op{{}, body}, number, encoded);
  return encoded;
}

/// Bytes as a data frame.
inline std::string DataFrame(const std::string& content, bool checksum = true) {
  std::string frame(ZSTD_compressBound(content.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum ? 1 : 0);
  frame.resize(ZSTD_compress2(context, frame.data(), frame.size(), content.data(), content.size()));
  ZSTD_freeCCtx(context);
  return frame;
}

/// Compressed by zlib. @param window_bits choose the format, as for deflateInit2
inline std::string Deflated(const std::string& text, int window_bits = MAX_WBITS) {
  z_stream stream{};
  const int begun =
      deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  if (begun != Z_OK) std::abort();
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) std::abort();
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}
inline std::string Gzipped(const std::string& text) { return Deflated(text, MAX_WBITS + 16); }

/// @param content up to 127 bytes
inline std::string SkippableFrame(const std::string& content) {
  using namespace std::string_literals;
  return "\x50\x2a\x4d\x18"s + static_cast<char>(content.size()) + std::string(3, '\0') + content;
}

}  // namespace ringscope::testing

#endif  // RINGSCOPE_FORMATS_TESTING_FRAMES_H_
