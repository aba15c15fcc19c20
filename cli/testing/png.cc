#include "cli/testing/png.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "core/base/wire.h"
#include "formats/io/byte_stream.h"
#include "formats/io/compressed_source.h"

namespace ringscope {
namespace {

uint32_t BigEndian(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

std::optional<std::string> Inflate(const std::string& deflated) {
  const std::unique_ptr<ByteSource> source = MakeInflateSource(MakeMemorySource(deflated));
  std::string bytes;
  std::vector<uint8_t> part(1 << 16);
  while (true) {
    const Result<size_t> read = source->Read(part);
    if (!read) return std::nullopt;
    if (*read == 0) return bytes;
    bytes += wire::AsText(Bytes(part).first(*read));
  }
}

int Paeth(int left, int above, int corner) {
  const int guess = left + above - corner;
  const int to_left = std::abs(guess - left), to_above = std::abs(guess - above),
            to_corner = std::abs(guess - corner);
  if (to_left <= to_above && to_left <= to_corner) return left;
  return to_above <= to_corner ? above : corner;
}

/// What a row's filter adds to a byte.
int Predicted(uint8_t filter, int left, int above, int corner) {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return above;
    case 3:
      return (left + above) / 2;
    case 4:
      return Paeth(left, above, corner);
    default:
      return 0;
  }
}

}  // namespace

std::optional<Pixels> ReadPng(const std::string& file) {
  constexpr size_t kHeader = 33;  // the signature, and the first chunk
  if (file.size() < kHeader || !file.starts_with("\x89PNG\r\n\x1a\n")) return std::nullopt;
  Pixels pixels{.width = BigEndian(file, 16), .height = BigEndian(file, 20), .rgb = {}};
  const char depth = file[24], colours = file[25], interlaced = file[28];
  if (depth != 8 || (colours != 2 && colours != 6) || interlaced != 0) return std::nullopt;
  std::string deflated;
  for (size_t at = 8; at + 12 <= file.size();) {
    const uint32_t size = BigEndian(file, at);
    if (size > file.size() - at - 12) return std::nullopt;
    if (file.compare(at + 4, 4, "IDAT") == 0) deflated += file.substr(at + 8, size);
    at += size + 12;
  }
  const std::optional<std::string> filtered = Inflate(deflated);
  const size_t channels = colours == 2 ? 3 : 4;
  const size_t stride = size_t{pixels.width} * channels;
  if (!filtered || filtered->size() != (stride + 1) * pixels.height) return std::nullopt;

  std::vector<uint8_t> above(stride), row(stride);
  for (uint32_t y = 0; y < pixels.height; ++y) {
    const char* const in = filtered->data() + y * (stride + 1);
    for (size_t i = 0; i < stride; ++i) {
      const bool first = i < channels;
      const int predicted = Predicted(static_cast<uint8_t>(in[0]), first ? 0 : row[i - channels],
                                      above[i], first ? 0 : above[i - channels]);
      row[i] = static_cast<uint8_t>(static_cast<uint8_t>(in[i + 1]) + predicted);
    }
    for (size_t i = 0; i < stride; i += channels) {
      const int alpha = channels == 4 ? row[i + 3] : 255;
      for (size_t c = 0; c < 3; ++c)
        pixels.rgb.push_back(
            static_cast<uint8_t>((row[i + c] * alpha + 255 * (255 - alpha)) / 255));
    }
    std::swap(row, above);
  }
  return pixels;
}

ColourGrid MakeColourGrid(const Pixels& pixels, uint32_t cell) {
  ColourGrid grid{.columns = (pixels.width + cell - 1) / cell,
                  .rows = (pixels.height + cell - 1) / cell,
                  .rgb = {}};
  grid.rgb.resize(size_t{grid.columns} * grid.rows * 3);
  std::vector<uint32_t> counts(size_t{grid.columns} * grid.rows);
  for (uint32_t y = 0; y < pixels.height; ++y) {
    for (uint32_t x = 0; x < pixels.width; ++x) {
      const size_t at = size_t{y / cell} * grid.columns + x / cell;
      ++counts[at];
      for (size_t c = 0; c < 3; ++c)
        grid.rgb[at * 3 + c] += pixels.rgb[(size_t{y} * pixels.width + x) * 3 + c];
    }
  }
  for (size_t i = 0; i < grid.rgb.size(); ++i) grid.rgb[i] /= counts[i / 3];
  return grid;
}

}  // namespace ringscope
