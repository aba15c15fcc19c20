#ifndef RINGSCOPE_CORE_BASE_SHA256_H_
#define RINGSCOPE_CORE_BASE_SHA256_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace ringscope {

/// The SHA-256 digest of some bytes. Source: FIPS 180-4.
std::array<uint8_t, 32> Sha256(std::string_view bytes);
/// The same in base64, as a Content-Security-Policy takes it.
std::string Sha256Base64(std::string_view bytes);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_SHA256_H_
