#include "core/engine/release_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/engine/catalogue.h"

namespace ringscope {
namespace {

/// All rules there are: a rule that is not listed here does not build, see below.
struct NamedRule {
  const char* name;
  bool V2Rules::*rule;
};
#define RS_RULE(name) \
  NamedRule { #name, &V2Rules::name }
constexpr std::array kRules = {
    RS_RULE(reports_loss_causes),       RS_RULE(allows_writer_drop),
    RS_RULE(readmits_grown_chunk),      RS_RULE(readmission_is_no_gap),
    RS_RULE(relocates_completed_chunk), RS_RULE(scrape_keeps_incomplete),
    RS_RULE(recommit_before_evict),     RS_RULE(wraps_at_next_commit),
    RS_RULE(counts_lost_fragments),     RS_RULE(clearing_consumes_fragments),
};
#undef RS_RULE
static_assert(sizeof(V2Rules) == kRules.size() * sizeof(bool));

struct Release {
  const char* engine;
  V2Rules rules;
};
constexpr Release kReleases[] = {
    {"v2@54", kV54}, {"v2@55", kV55}, {"v2@56", kV56}, {"v2@57", kV57}, {"v2@58", kV58}};

TEST(ReleaseNotes, EachRuleThatChanges_IsExplainedWhereItChanges) {
  for (size_t i = 1; i < std::size(kReleases); ++i) {
    for (const NamedRule& named : kRules) {
      const bool changes = kReleases[i].rules.*named.rule != kReleases[i - 1].rules.*named.rule;
      bool explained = false;
      for (const ReleaseNote* note : NotesOf(kReleases[i].engine))
        explained |= note->rule == named.rule;
      EXPECT_EQ(explained, changes) << named.name << " in " << kReleases[i].engine;
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
    EXPECT_TRUE(engines.contains(note.engine));
    EXPECT_THAT(note.title, ::testing::Not(::testing::EndsWith(".")));
    for (const char* text : {note.before, note.since, note.symptom})
      EXPECT_THAT(text, ::testing::EndsWith("."));
    EXPECT_EQ(note.rule == nullptr, note.engine == std::string("v1"));
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
