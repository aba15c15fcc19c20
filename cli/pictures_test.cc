// Pictures have what they should show: they can be drawn, they have at least some rectangles and
// the texts that matter, and no text overlaps another or leaves the picture.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "cli/testing/script.h"
#include "commands/testing/memory_run.h"
#include "formats/draw/svg.h"

namespace ringscope {
namespace {

namespace fs = std::filesystem;

struct PictureCase {
  const char* name;
  const char* command;  // writes picture.svg
  size_t rectangles;    // at least
  std::vector<const char*> texts;
};
const PictureCase kPictures[] = {
    {"chunks",
     "ringscope graph testdata/captures/two-buffers-v2/session.ops.jsonl.zst -o picture.svg",
     30,
     {"overwritten, discarded or refused", "612 read, 15,886 discarded"}},
    {"chunks-broken",
     "ringscope graph testdata/inputs/lossy.ops.jsonl --full -o picture.svg",
     60,
     {"41 chunks", "36 read, 1 waiting (readable), 4 overwritten"}},
    {"chunks-full",
     "ringscope graph testdata/captures/two-buffers-v2/session.ops.jsonl.zst --seq 2:2 --full -o "
     "picture.svg",
     650,
     {"685 chunks", "1 read, 766 overwritten", "#640"}},
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

class Pictures : public ::testing::TestWithParam<PictureCase> {};

INSTANTIATE_TEST_SUITE_P(Cli, Pictures, ::testing::ValuesIn(kPictures), [](const auto& test) {
  std::string name = test.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

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

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_P(Pictures, HaveWhatTheyShow) {
  const std::string svg = Draw(GetParam());
  EXPECT_GE(CountOf(svg, "<rect "), GetParam().rectangles);
  std::string texts;
  for (const PlacedText& placed : TextsOf(svg)) texts += placed.text + "\n";
  for (const char* text : GetParam().texts) EXPECT_NE(texts.find(text), std::string::npos) << texts;
}

TEST_P(Pictures, TextsHaveTheirOwnSpace) {
  EXPECT_EQ(BadTexts(Draw(GetParam())), std::vector<std::string>());
}

TEST_P(Pictures, CanBeDrawn) {
  if (std::system("command -v rsvg-convert >/dev/null") != 0)
    GTEST_SKIP() << "rsvg-convert is missing (librsvg2-bin)";
  const TempFolder work;
  const std::string path = work.path() + "/picture.svg";
  std::ofstream(path, std::ios::binary) << Draw(GetParam());
  EXPECT_EQ(std::system(("rsvg-convert '" + path + "' >/dev/null").c_str()), 0);
}

// What the test of texts is worth: longer than their space, at one place, below the picture.
TEST(PicturesThemselves, BadTexts_AreFound) {
  const std::string svg = Draw(kPictures[0]);
  const auto replaced = [&](const char* pattern, const char* by) {
    return std::regex_replace(svg, std::regex(pattern), by);
  };
  EXPECT_TRUE(BadTexts(svg).empty());
  EXPECT_FALSE(
      BadTexts(replaced(">overwritten, ", ">overwritten by writers of three other processes, "))
          .empty());
  EXPECT_FALSE(BadTexts(replaced("<text x=\"[0-9.]+\"", "<text x=\"30\"")).empty());
  EXPECT_FALSE(BadTexts(replaced("height=\"[0-9]+\" viewBox", "height=\"500\" viewBox")).empty());
}

}  // namespace
}  // namespace ringscope
