// Golden runs of pictures: rendered by rsvg-convert and compared with testdata/pictures/NAME.txt,
// which has the mean colours of squares of 24 pixels, two hexadecimal digits for each of red, green
// and blue. Such squares hardly change with the version of fonts and of the renderer, which move
// the edges of letters by parts of a pixel; but a picture that is black, empty, cut or without its
// texts differs by far. That texts overlap or leave the picture is found without rendering, from
// their places and widths. After RINGSCOPE_UPDATE_GOLDEN=1 build/dev/cli/cli_test
// --gtest_filter='*GoldenPictures*' the files have the pictures of today: look at these.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>

#include "cli/testing/png.h"
#include "cli/testing/script.h"
#include "commands/testing/memory_run.h"
#include "formats/draw/svg_text.h"

namespace ringscope {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kCellPixels = 24;
/// Levels of 255: one square may differ that much, all on average only that much.
constexpr double kMostOfOne = 44;
constexpr double kMostOnAverage = 2.5;

struct PictureCase {
  const char* name;
  const char* command;  // writes picture.svg
};
constexpr PictureCase kPictures[] = {
    {"chunks",
     "ringscope graph testdata/captures/two-buffers-v2/session.ops.jsonl.zst -o picture.svg"},
    {"chunks-broken", "ringscope graph testdata/inputs/lossy.ops.jsonl --full -o picture.svg"},
    {"chunks-full",
     "ringscope graph testdata/captures/two-buffers-v2/session.ops.jsonl.zst --seq 2:2 --full -o "
     "picture.svg"},
    {"layout",
     "ringscope graph testdata/captures/two-buffers-v2/session.ops.jsonl.zst --layout -o "
     "picture.svg"},
    {"sizes",
     "ringscope sweep testdata/captures/two-buffers-v2/session.ops.jsonl.zst --policies "
     "ring_buffer,discard --plot picture.svg"},
    {"sizes-target",
     "ringscope sweep testdata/captures/ring-v2/session.ops.jsonl.zst --target keep=1s --target "
     "loss=1% --plot picture.svg"},
};

std::string Draw(const PictureCase& picture) {
  const TempFolder work;
  fs::current_path(work.path());
  fs::create_directory_symlink(RS_TESTDATA, "testdata");
  RunScriptLine(picture.command);
  const std::string svg = ReadFile("picture.svg");
  fs::current_path("/");
  return svg;
}

bool HasRenderer() { return std::system("command -v rsvg-convert >/dev/null") == 0; }
constexpr const char* kNoRenderer =
    "rsvg-convert is missing (librsvg2-bin): pictures are not compared";

std::optional<Pixels> Rendered(const std::string& svg) {
  const TempFolder work;
  const std::string in = work.path() + "/in.svg", out = work.path() + "/out.png";
  std::ofstream(in, std::ios::binary) << svg;
  if (std::system(("rsvg-convert '" + in + "' -o '" + out + "'").c_str()) != 0) return std::nullopt;
  return ReadPng(ReadFile(out));
}

/// The content of a golden file.
std::string GridText(const Pixels& pixels) {
  const ColourGrid grid = MakeColourGrid(pixels, kCellPixels);
  std::string text = fmt::format("{}x{}\n", pixels.width, pixels.height);
  for (size_t i = 0; i < grid.rgb.size(); ++i) {
    text += fmt::format("{:02x}", std::lround(grid.rgb[i]));
    if ((i + 1) % (size_t{grid.columns} * 3) == 0) text += '\n';
  }
  return text;
}

/// What distinguishes a picture from a golden file; empty: nothing that matters.
std::string Difference(const Pixels& pixels, const std::string& golden) {
  std::istringstream lines(golden);
  std::string line, digits;
  std::getline(lines, line);
  const std::string size = fmt::format("{}x{}", pixels.width, pixels.height);
  if (line != size) return fmt::format("it is of {} pixels instead of {}", size, line);
  while (std::getline(lines, line)) digits += line;
  const ColourGrid grid = MakeColourGrid(pixels, kCellPixels);
  if (digits.size() != grid.rgb.size() * 2) return "the golden file is damaged";
  double most = 0, sum = 0;
  size_t where = 0;
  for (size_t i = 0; i < grid.rgb.size(); ++i) {
    const double expected = std::stoi(digits.substr(i * 2, 2), nullptr, 16);
    const double difference = std::abs(grid.rgb[i] - expected);
    sum += difference;
    if (difference > most) most = difference, where = i / 3;
  }
  const double average = sum / static_cast<double>(grid.rgb.size());
  if (most <= kMostOfOne && average <= kMostOnAverage) return {};
  return fmt::format("at ({}, {}) a square differs by {:.0f} of 255; all by {:.1f} on average",
                     where % grid.columns * kCellPixels, where / grid.columns * kCellPixels, most,
                     average);
}

class GoldenPictures : public ::testing::TestWithParam<PictureCase> {};

INSTANTIATE_TEST_SUITE_P(Cli, GoldenPictures, ::testing::ValuesIn(kPictures), [](const auto& test) {
  std::string name = test.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(GoldenPictures, LookAsBefore) {
  if (!HasRenderer()) GTEST_SKIP() << kNoRenderer;
  const std::optional<Pixels> pixels = Rendered(Draw(GetParam()));
  ASSERT_TRUE(pixels) << "rsvg-convert does not draw it";
  const fs::path golden =
      fs::path(RS_TESTDATA) / "pictures" / fmt::format("{}.txt", GetParam().name);
  if (std::getenv("RINGSCOPE_UPDATE_GOLDEN") != nullptr)
    std::ofstream(golden, std::ios::binary) << GridText(*pixels);
  EXPECT_EQ(Difference(*pixels, ReadFile(golden)), "") << golden;
}

/// A text of a picture, and the space that it takes.
struct PlacedText {
  std::string text;
  double left, right, top, bottom;
};

std::string Unescaped(std::string text) {
  for (const auto& [escaped, plain] : std::initializer_list<std::pair<const char*, const char*>>{
           {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&amp;", "&"}})
    text = std::regex_replace(text, std::regex(escaped), plain);
  return text;
}

std::vector<PlacedText> TextsOf(const std::string& svg) {
  static const std::regex kText(
      R"re(<text x="([^"]*)" y="([^"]*)" class="([^"]*)">([^<]*)</text>)re");
  std::vector<PlacedText> texts;
  for (std::sregex_iterator at(svg.begin(), svg.end(), kText), end; at != end; ++at) {
    const double x = std::stod((*at)[1]), y = std::stod((*at)[2]);
    const std::string classes = (*at)[3], text = Unescaped((*at)[4]);
    const double width = SvgTextWidth(text, classes);
    const double left = classes.ends_with("right")    ? x - width
                        : classes.ends_with("middle") ? x - width / 2
                                                      : x;
    texts.push_back({text, left, left + width, y - 8, y + 1});
  }
  return texts;
}

/// Texts that overlap others or leave the picture.
std::vector<std::string> BadTexts(const std::string& svg) {
  static const std::regex kSize(R"re(<svg [^>]*width="(\d+)" height="(\d+)")re");
  std::smatch size;
  if (!std::regex_search(svg, size, kSize)) return {"no size"};
  const double width = std::stod(size[1]), height = std::stod(size[2]);
  std::vector<PlacedText> texts = TextsOf(svg);
  if (texts.empty()) return {"no texts"};
  std::vector<std::string> bad;
  std::sort(texts.begin(), texts.end(),
            [](const PlacedText& a, const PlacedText& b) { return a.top < b.top; });
  for (size_t i = 0; i < texts.size(); ++i) {
    const PlacedText& a = texts[i];
    if (a.left < 0 || a.top < 0 || a.right > width || a.bottom > height)
      bad.push_back("outside: " + a.text);
    for (size_t j = i + 1; j < texts.size() && texts[j].top < a.bottom; ++j)
      if (texts[j].left < a.right && a.left < texts[j].right)
        bad.push_back(a.text + " over " + texts[j].text);
  }
  return bad;
}

TEST_P(GoldenPictures, TextsHaveTheirOwnSpace) {
  EXPECT_EQ(BadTexts(Draw(GetParam())), std::vector<std::string>());
}

std::string Replaced(const std::string& svg, const char* pattern, const char* by) {
  return std::regex_replace(svg, std::regex(pattern), by);
}

TEST(GoldenPicturesThemselves, BrokenOnes_AreFound) {
  if (!HasRenderer()) GTEST_SKIP() << kNoRenderer;
  const std::string svg = Draw(kPictures[0]);
  const std::optional<Pixels> pixels = Rendered(svg);
  ASSERT_TRUE(pixels);
  const std::string golden = GridText(*pixels);
  EXPECT_EQ(Difference(*pixels, golden), "");
  const auto difference = [&](const std::string& broken) {
    EXPECT_NE(broken, svg);
    const std::optional<Pixels> drawn = Rendered(broken);
    return drawn ? Difference(*drawn, golden) : "not drawn";
  };
  // Other versions of fonts and renderers move texts a little.
  EXPECT_EQ(difference(Replaced(svg, "<text ", "<text transform=\"translate(0.5 0.4)\" ")), "");
  // What viewers without variables make of rules that have them.
  EXPECT_NE(difference(Replaced(svg, "fill: #[0-9a-f]{6}", "fill: var(--x)")), "");
  EXPECT_NE(difference(svg.substr(0, svg.find("class=\"page\"/>") + 14) + "</svg>"), "");
  EXPECT_NE(difference(Replaced(svg, "viewBox=\"0 0 [0-9]+ ", "viewBox=\"0 0 900 ")), "");
  EXPECT_NE(difference(Replaced(svg, "height=\"[0-9]+\" viewBox", "height=\"500\" viewBox")), "");
  EXPECT_NE(difference(Replaced(svg, "<text [^>]*>[^<]*</text>", "")), "");
  EXPECT_NE(difference(Replaced(svg, "class=\"(lost|struck)\"", "class=\"good\"")), "");

  // Texts: longer than their space, at one place, below the picture.
  EXPECT_TRUE(BadTexts(svg).empty());
  EXPECT_FALSE(BadTexts(Replaced(svg, ">(overwritten|discarded)<",
                                 ">lost to writers of three other processes<"))
                   .empty());
  EXPECT_FALSE(BadTexts(Replaced(svg, "<text x=\"[0-9.]+\"", "<text x=\"30\"")).empty());
  EXPECT_FALSE(
      BadTexts(Replaced(svg, "height=\"[0-9]+\" viewBox", "height=\"500\" viewBox")).empty());
}

}  // namespace
}  // namespace ringscope
