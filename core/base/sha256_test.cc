#include "core/base/sha256.h"

#include <gtest/gtest.h>

namespace ringscope {
namespace {

// The examples of FIPS 180-4's companion page, and lengths around a block's end.
TEST(Sha256, Digests_AreThoseOfTheStandard) {
  EXPECT_EQ(Sha256Base64(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
  EXPECT_EQ(Sha256Base64("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
  EXPECT_EQ(Sha256Base64("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE=");
  EXPECT_EQ(Sha256(std::string(1'000'000, 'a'))[0], 0xcd);
  EXPECT_EQ(Sha256(std::string(1'000'000, 'a'))[31], 0xd0);
}

TEST(Sha256, LengthsAroundABlock_AllDiffer) {
  for (size_t size = 54; size < 130; ++size)
    EXPECT_NE(Sha256(std::string(size, 'x')), Sha256(std::string(size + 1, 'x')));
}

}  // namespace
}  // namespace ringscope
