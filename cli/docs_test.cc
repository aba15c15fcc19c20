// The documentation is true. In README.md and docs/*.md:
// - each `$ ringscope ...` line of a ```console block runs, and does not fail; after a line
//   `<!-- fails -->` it does;
// - in a block after a line `<!-- golden -->` it prints the lines that follow it;
// - each picture of the page is a file that these lines wrote, of the same name;
// - each link leads to a file, and to a heading of it where it names one;
// - each file of the project that it names is there.
// The lines of a page run one after the other in a folder that has the project's testdata and the
// example plug-in. `scripts/test --golden` writes the output of all blocks and the pictures to the
// pages.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/testing/golden.h"
#include "cli/testing/script.h"
#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrompt = "$ ringscope ";
constexpr uintmax_t kReadmeBytes = 8192;

const fs::path kRoot = RS_SOURCE_DIR;

/// README.md and docs/*.md, relative to the project.
std::vector<std::string> Pages() {
  std::vector<std::string> pages = {"README.md"};
  for (const auto& entry : fs::directory_iterator(kRoot / "docs"))
    if (entry.path().extension() == ".md") pages.push_back(fs::relative(entry.path(), kRoot));
  std::sort(pages.begin(), pages.end());
  return pages;
}

/// Runs the commands of a page.
/// @param all also replaces the output in blocks that are not marked as golden
/// @return the page with the output that the commands print now
std::string RunAll(const std::string& page, bool all) {
  std::string made;
  std::string mark;  // the line before the block
  bool in_block = false;
  bool in_output = false;
  std::istringstream stream(page);
  for (std::string line; std::getline(stream, line);) {
    if (line == "```console") {
      in_block = true;
    } else if (line == "```") {
      in_block = in_output = false;
    } else if (in_block && line.starts_with(kPrompt)) {
      const ScriptResult result = RunScriptLine(line.substr(2));
      const bool failed = result.status == 1 || result.status == 2;
      EXPECT_EQ(failed, mark == "<!-- fails -->") << line << "\n" << result.err;
      made += line + "\n";
      in_output = all || mark == "<!-- golden -->";
      if (in_output) made += result.out + result.err;
      continue;
    } else if (in_output) {
      continue;  // replaced by what was printed
    }
    if (!in_block) mark = line;
    made += line + "\n";
  }
  return made;
}

/// The targets of a page's links and pictures, outside of its blocks of code.
std::vector<std::string> Links(const std::string& page, bool pictures) {
  static const std::regex kLink(R"((!?)\[[^\]]*\]\(([^)\s]+)\))");
  std::vector<std::string> links;
  bool in_block = false;
  std::istringstream stream(page);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("```")) in_block = !in_block;
    if (in_block) continue;
    for (std::sregex_iterator it(line.begin(), line.end(), kLink), end; it != end; ++it)
      if (((*it)[1].length() > 0) == pictures) links.push_back((*it)[2]);
  }
  return links;
}

/// The names by which links reach a page's headings: lower case, "-" for spaces, no punctuation.
std::set<std::string> Anchors(const std::string& page) {
  std::set<std::string> anchors;
  bool in_block = false;
  std::istringstream stream(page);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("```")) in_block = !in_block;
    if (in_block || !line.starts_with("#")) continue;
    std::string anchor;
    for (const char c : line.substr(line.find_first_not_of("# "))) {
      if (c == ' ') anchor += '-';
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_')
        anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    anchors.insert(anchor);
  }
  return anchors;
}

class Docs : public ::testing::TestWithParam<std::string> {};

TEST_P(Docs, ExamplesRun) {
  const fs::path path = kRoot / GetParam();
  const std::string page = ReadFile(path);
  const TempFolder work;
  fs::current_path(work.path());
  fs::create_directory_symlink(RS_TESTDATA, "testdata");
  fs::create_symlink(RS_PLUGINS "/v2_plugin.so", "libmybuffer.so");
  const std::string made = RunAll(page, UpdatesGoldens());
  fs::current_path("/");
  ExpectGolden(path, made);

  for (const std::string& link : Links(page, /*pictures=*/true)) {
    const fs::path picture = path.parent_path() / link;
    const fs::path written = fs::path(work.path()) / picture.filename();
    if (UpdatesGoldens()) {
      fs::create_directories(picture.parent_path());
      fs::copy_file(written, picture, fs::copy_options::overwrite_existing);
    }
    EXPECT_TRUE(fs::exists(written)) << "no example writes " << picture.filename();
    EXPECT_TRUE(ReadFile(picture) == ReadFile(written)) << link << " is not what its example draws";
  }
}

TEST_P(Docs, LinksLeadSomewhere) {
  const fs::path path = kRoot / GetParam();
  const std::string page = ReadFile(path);
  for (const std::string& link : Links(page, /*pictures=*/false)) {
    if (link.find("://") != std::string::npos) continue;
    const size_t hash = std::min(link.find('#'), link.size());
    const fs::path target = hash == 0 ? path : path.parent_path() / link.substr(0, hash);
    EXPECT_TRUE(fs::exists(target)) << link;
    if (hash < link.size() && fs::exists(target)) {
      EXPECT_TRUE(Anchors(ReadFile(target)).contains(link.substr(hash + 1))) << link;
    }
  }
}

// Words in capitals stand for a name: testdata/cli/COMMAND/CASE.txt.
TEST_P(Docs, FilesThatItNamesAreThere) {
  static const std::regex kPath(
      "(^|[^\\w/.-])((testdata|docs|scripts|core|formats|commands|cli|man)"
      "/[\\w./-]*\\w)");
  static const std::regex kPlaceholder("/[A-Z]+\\b");
  const std::string page = ReadFile(kRoot / GetParam());
  for (std::sregex_iterator match(page.begin(), page.end(), kPath), end; match != end; ++match) {
    const std::string name = (*match)[2];
    if (std::regex_search(name, kPlaceholder)) continue;
    EXPECT_TRUE(fs::exists(kRoot / name)) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Pages, Docs, ::testing::ValuesIn(Pages()), [](const auto& page) {
  std::string name = fs::path(page.param).stem().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
});

TEST(Readme, IsShortAndLinksEveryPage) {
  EXPECT_LE(fs::file_size(kRoot / "README.md"), kReadmeBytes);
  const std::vector<std::string> links = Links(ReadFile(kRoot / "README.md"), false);
  for (const std::string& page : Pages()) {
    if (page == "README.md") continue;
    EXPECT_TRUE(std::any_of(links.begin(), links.end(), [&](const std::string& link) {
      return link.starts_with(page);
    })) << page;
  }
}

/// The C++ sources that a text names, sorted; those below core/.
std::vector<std::string> SourcesIn(const std::string& text) {
  static const std::regex kSource(R"((?:core/)?((?:base|engine|docs/examples)/\w+\.cc))");
  std::vector<std::string> sources;
  for (std::sregex_iterator it(text.begin(), text.end(), kSource), end; it != end; ++it)
    sources.push_back((*it)[1]);
  std::sort(sources.begin(), sources.end());
  return sources;
}

TEST(Plugins, CommandBuildsWhatTheBuildBuilds) {
  const std::string page = ReadFile(kRoot / "docs/plugins.md");
  const size_t command = page.find("\nc++ ");
  ASSERT_NE(command, std::string::npos);
  const std::string build = ReadFile(kRoot / "core/CMakeLists.txt");
  const size_t plugin = build.find("rs_plugin(v2_plugin");
  ASSERT_NE(plugin, std::string::npos);
  EXPECT_EQ(SourcesIn(page.substr(command, page.find("```", command) - command)),
            SourcesIn(build.substr(plugin, build.find(')', plugin) - plugin)));
}

}  // namespace
}  // namespace ringscope
