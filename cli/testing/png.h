#ifndef RINGSCOPE_CLI_TESTING_PNG_H_
#define RINGSCOPE_CLI_TESTING_PNG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ringscope {

/// A picture in pixels.
struct Pixels {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<uint8_t> rgb;  // by rows, on white ground
};

/// A PNG file with eight bits a channel, RGB or RGBA, not interlaced, as rsvg-convert writes them.
/// @return nullopt: it is something else, or damaged
std::optional<Pixels> ReadPng(const std::string& file);

/// The picture in squares of `cell` pixels: their mean colours, red, green and blue, by rows. Those
/// at the right and lower edges can be smaller.
struct ColourGrid {
  uint32_t columns = 0;
  uint32_t rows = 0;
  std::vector<double> rgb;
};
ColourGrid MakeColourGrid(const Pixels& pixels, uint32_t cell);

}  // namespace ringscope

#endif  // RINGSCOPE_CLI_TESTING_PNG_H_
