#include "formats/draw/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/draw/svg.h"
#include "formats/draw/svg_style.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Html, Text_IsNeverMarkup) {
  EXPECT_EQ(HtmlEscaped("<b>&\"'"), "&lt;b&gt;&amp;&quot;'");
  EXPECT_EQ(HtmlEscaped("a\nb\x01"), "a\nb\\x01");
  EXPECT_EQ(HtmlEscaped("\xff\u202e"), "\\xff\\xe2\\x80\\xae");
  EXPECT_EQ(HtmlEscaped("Zürich €"), "Zürich €");
}

TEST(Html, Elements_AreClosedAsTheyWereOpened) {
  HtmlWriter html;
  html.Open("p", {{"class", "a\"><script>"}, {"hidden", ""}});
  html.Element("code", "x < y");
  html.Void("br", {});
  html.Text("z");
  html.Close();
  EXPECT_EQ(html.Take(),
            "<p class=\"a&quot;&gt;&lt;script&gt;\" hidden><code>x &lt; y</code><br>z</p>\n");
}

TEST(Html, Shortened_KeepsWholeCharacters) {
  EXPECT_EQ(HtmlShortened("abc", 3), "abc");
  EXPECT_EQ(HtmlShortened("äbcd", 2), "äb…");
  EXPECT_EQ(HtmlShortened("\xff\xff\xff", 2), "\xff\xff…");
  EXPECT_EQ(HtmlShortened("", 0), "");
}

TEST(Html, InlineSvg_HasTheNameAndNoStyle) {
  SvgWriter svg;
  svg.Box({1, 2, 3, 4}, "good");
  svg.Text(1, 2, "<script>", "");
  const std::string part = InlineSvg(svg.Finish(10, 20, "old", SvgStyle()), "a & b");
  EXPECT_THAT(part, ::testing::StartsWith("<svg width=\"10\""));
  EXPECT_THAT(part, HasSubstr("<title>a &amp; b</title>"));
  EXPECT_THAT(part, HasSubstr("class=\"good\""));
  EXPECT_THAT(part, HasSubstr("&lt;script&gt;"));
  for (const char* absent : {"<style", "xmlns", "<?xml", "old"})
    EXPECT_THAT(part, Not(HasSubstr(absent)));
}

TEST(Html, PageTones_AreLightOrDarkByChoiceToo) {
  const std::string style = PageToneStyle(".more { fill: var(--good); }");
  for (const char* part :
       {":root { color-scheme: light;", ":root:not([data-theme=light])", ":root[data-theme=dark]",
        "@media print", "--lost: #", ".more { fill: var(--good); }"})
    EXPECT_THAT(style, HasSubstr(part));
}

}  // namespace
}  // namespace ringscope
