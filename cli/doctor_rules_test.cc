// The lists of doctor's rules in docs/doctor.md are those of the table in
// core/findings/rules.cc. scripts/test --golden writes them there.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "cli/testing/golden.h"
#include "commands/testing/memory_run.h"
#include "commands/view/report.h"
#include "core/findings/finding.h"

namespace ringscope {
namespace {

const std::filesystem::path kProject = RS_SOURCE_DIR;

/// Compares what is between two lines of a file with `expected`, or puts it there.
void ExpectBetween(const char* file, const std::string& begin, const std::string& end,
                   const std::string& expected) {
  const std::string text = ReadFile(kProject / file);
  const size_t from = text.find(begin), to = text.find(end);
  ASSERT_TRUE(from != std::string::npos && to != std::string::npos) << file;
  const size_t start = from + begin.size();
  ExpectGoldenPart(kProject / file, start, to, expected);
}

TEST(DoctorRules, AreInThePage) {
  std::string rules;
  for (const Rule& rule : DoctorRules())
    rules += Wrap(fmt::format("**{}** ({}): {}. {} *Remedy:* {}", rule.id, HarmText(rule.harm),
                              rule.title, rule.meaning, rule.remedy),
                  "- ") +
             "\n";
  ExpectBetween("docs/doctor.md", "<!-- rules -->\n", "<!-- end of rules -->\n", rules);
}

}  // namespace
}  // namespace ringscope
