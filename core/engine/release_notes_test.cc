
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/engine/catalogue.h"
#include "core/engine/v2_rules.h"

namespace ringscope {
namespace {

TEST(ReleaseNotes, EachRuleThatChanges_IsExplainedWhereItChanges) {
  for (uint32_t release = kFirstV2Release + 1; release <= kNewestRelease; ++release) {
    const std::string engine = fmt::format("v2@{}", release);
    for (const NamedRule& named : kNamedRules) {
      const bool changes = RulesOf(release).*named.rule != RulesOf(release - 1).*named.rule;
      bool explained = false;
      for (const ReleaseNote* note : NotesOf(engine)) explained |= note->rule == named.rule;
      EXPECT_EQ(explained, changes) << named.name << " in " << engine;
    }
  }
  EXPECT_THAT(NotesOf("v2@54"), ::testing::IsEmpty());  // there is no V2 before
  EXPECT_GE(NotesOf("v1").size(), 5u);
}

TEST(ReleaseNotes, Texts_AreThereAndSentences) {
  std::set<std::string> titles;
  std::set<std::string> engines;
  for (const EngineInfo& engine : Engines()) engines.insert(engine.name);
  for (const ReleaseNote& note : ReleaseNotes()) {
    SCOPED_TRACE(note.title);
    EXPECT_TRUE(titles.insert(note.title).second);
    EXPECT_TRUE(engines.contains(note.engine()));
    EXPECT_THAT(note.title, ::testing::Not(::testing::EndsWith(".")));
    for (const char* text : {note.before, note.since, note.symptom})
      EXPECT_THAT(text, ::testing::EndsWith("."));
    EXPECT_EQ(note.rule == nullptr, note.engine() == "v1");
  }
}

TEST(ReleaseNotes, Counters_HaveNames) {
  std::set<std::string> names;
  for (const StatField& field : kStatFields) names.insert(field.name);
  int counters = 0;
  for (const ReleaseNote& note : ReleaseNotes()) {
    for (uint64_t BufferStats::*const counter : note.counters) {
      EXPECT_TRUE(names.contains(CounterName(counter))) << note.title;
      ++counters;
    }
  }
  EXPECT_GT(counters, 15);
  EXPECT_STREQ(CounterName(&BufferStats::chunks_relocated), "chunks_relocated");
}

}  // namespace
}  // namespace ringscope
