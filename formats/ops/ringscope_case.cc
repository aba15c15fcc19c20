#include "formats/ops/ringscope_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "core/base/wire.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/fragment.h"
#include "formats/ops/case_text.h"

namespace ringscope {
namespace {

/// A commit's payload as its fragments and what follows them.
struct CasePayload {
  std::vector<Fragment> fragments;
  std::string_view bytes;

  explicit CasePayload(const PlainStep& step) : bytes(step.payload) {
    VisitFragments(wire::AsBytes(bytes), step.step.commit.fragments,
                   [&](const Fragment& fragment) { fragments.push_back(fragment); });
  }
  std::string_view body(const Fragment& fragment) const {
    return bytes.substr(fragment.body, fragment.size());
  }
  std::string_view rest() const {
    return bytes.substr(fragments.empty() ? 0 : fragments.back().end);
  }
};

/// The letter that fills the fragment; 0: there is none.
char FillOf(std::string_view body) { return body.empty() ? 'a' : LetterOf(body); }

/// "a20": as Describe of the tests' helpers has it.
std::string InRuns(const ExpectedPacket& packet) {
  std::string bytes, text;
  for (const std::string& slice : packet.slices) bytes += slice;
  for (size_t i = 0, run = 0; i < bytes.size(); i += run) {
    run = std::min(bytes.find_first_not_of(bytes[i], i), bytes.size()) - i;
    text += bytes[i] + std::to_string(run);
  }
  return text;
}

/// An engine that the tests can make: A's, else B's, else the newest V2.
std::string EngineOfTest(const Both<const EngineInfo*>& engines) {
  for (const Side side : kSides)
    if (FindEngine(engines[side]->name)) return engines[side]->name;
  return FindEngine("v2").value()->name;
}

class RingscopeCase : CaseText {
  using StepKind = StreamStep::Kind;

 public:
  using CaseText::CaseText;

  std::string Write() {
    Comment();
    const std::string engine = EngineOfTest(engines_);
    if (engine != engines_.a->name)
      Line("// It runs with {0}, and passes once {0} does what side A does.", engine);
    Line(
        "\n#include \"core/testing/chunk_dsl.h\"\n\nnamespace ringscope::testing {{\nnamespace "
        "{{\n");
    Line("TEST(Reproducer, {}) {{", CauseName());
    Line("  Buffer buffer = On(\"{}\", {}{});", engine, case_.stream.size,
         case_.stream.policy == FillPolicy::kDiscard ? ", FillPolicy::kDiscard" : "");
    const PlainStream runs = WithRuns(case_.stream);
    for (size_t i = 0; i < case_.stream.steps.size(); ++i) {
      const PlainStep& step = *case_.stream.steps[i];
      const CaseAnswer& answer = answers_.a.steps[i];
      switch (step.step.kind) {
        case StepKind::kCommit:
          if (!WriteChunk(step)) WriteRawCommit(*runs.steps[i]);
          break;
        case StepKind::kPatch:
          WritePatch(step, answer.patched);
          break;
        case StepKind::kRead:
          WriteRead(answer);
          break;
        case StepKind::kClone:
          WriteClone(answer);
          break;
      }
    }
    WriteRead(answers_.a.last_read);
    VisitCounters([&](const StatField& field, uint64_t value) {
      Line("  EXPECT_EQ(buffer.stats().{}, {}u);", field.name, value);
    });
    Line("}}\n\n}}  // namespace\n}}  // namespace ringscope::testing");
    return std::move(text_);
  }

 private:
  static std::string IdentityText(const Identity& identity) {
    return fmt::format("{}{}, {}", identity.uid, UnsignedSuffix(identity.uid), identity.pid);
  }

  /// @return false: the helper has no words for it
  bool WriteChunk(const PlainStep& step) {
    const ChunkCommit& commit = step.step.commit;
    const CasePayload payload(step);
    const size_t count = payload.fragments.size();
    uint8_t left = commit.flags;
    std::string calls;
    for (size_t i = 0; i < count; ++i) {
      const Fragment& fragment = payload.fragments[i];
      const char fill = FillOf(payload.body(fragment));
      if (fill == 0 || fragment.size_with_header() != WithSizeVarint(fragment.size())) return false;
      const bool ends = i == 0 && (left & kFirstContinues) != 0;
      const bool begins = i + 1 == count && (left & kLastContinues) != 0;
      if (ends) left &= static_cast<uint8_t>(~kFirstContinues);
      if (begins) left &= static_cast<uint8_t>(~kLastContinues);
      calls += fmt::format("\n                    .{}({}, '{}')",
                           ends && begins ? "Continues"
                           : ends         ? "Ends"
                           : begins       ? "Begins"
                                          : "Whole",
                           fragment.size(), fill);
    }
    const std::string_view rest = payload.rest();
    if (rest.size() > kMostListedBytes && rest.find_first_not_of('\0') == std::string_view::npos)
      calls += fmt::format("\n                    .Raw(std::string({}, '\\0'))", rest.size());
    else if (!rest.empty())
      calls += fmt::format("\n                    .Raw(std::string_view({}, {}))", CppLiteral(rest),
                           rest.size());
    if (commit.fragments != count)
      calls += fmt::format("\n                    .Counting({})", commit.fragments);
    if ((left & kNeedsPatching) != 0) calls += "\n                    .NeedsPatching()";
    if ((left & ~kNeedsPatching) != 0) return false;
    if (!commit.complete) calls += "\n                    .Incomplete()";
    if (has_identities_)
      calls += fmt::format("\n                    .From({{{}}})", IdentityText(commit.identity));
    Line("  buffer.Commit(Chunk({}, {}, {}{}){});", Raw(commit.sequence.producer),
         Raw(commit.sequence.writer), Raw(commit.chunk), UnsignedSuffix(Raw(commit.chunk)), calls);
    return true;
  }

  void WriteRawCommit(const PlainStep& step) {
    const ChunkCommit& commit = step.step.commit;
    Line("  {{");
    Line("    const std::string_view payload({}, {});", CppLiteral(step.payload),
         step.payload.size());
    Line("    buffer.engine().Commit({{.sequence = {{ProducerId{{{}}}, WriterId{{{}}}}},",
         Raw(commit.sequence.producer), Raw(commit.sequence.writer));
    Line("                            .identity = {{{}}},", IdentityText(commit.identity));
    Line("                            .chunk = ChunkId{{{}{}}},", Raw(commit.chunk),
         UnsignedSuffix(Raw(commit.chunk)));
    Line("                            .fragments = {},", commit.fragments);
    Line("                            .flags = {},", commit.flags);
    Line("                            .complete = {},", commit.complete);
    Line("                            .payload = wire::AsBytes(payload)}});");
    Line("  }}");
  }

  void WritePatch(const PlainStep& step, bool applied) {
    const ChunkPatches& patches = step.step.patches;
    std::vector<std::string> list;
    for (const auto& [offset, bytes] : step.patches) {
      list.push_back(fmt::format("{{.offset = {}{}, .data = reinterpret_cast<const uint8_t*>({})}}",
                                 offset, UnsignedSuffix(offset), CppLiteral(bytes)));
    }
    Line("  {{");
    if (!list.empty())
      Line("    const Patch patches[] = {{{}}};",
           fmt::join(list, ",\n                             "));
    Line("    EXPECT_{}(buffer.engine().ApplyPatches(", applied ? "TRUE" : "FALSE");
    Line("        {{.sequence = {{ProducerId{{{}}}, WriterId{{{}}}}}, .chunk = ChunkId{{{}{}}},",
         Raw(patches.sequence.producer), Raw(patches.sequence.writer), Raw(patches.chunk),
         UnsignedSuffix(Raw(patches.chunk)));
    Line("         .patches = {}, .more = {}}}));", list.empty() ? "{}" : "patches", patches.more);
    Line("  }}");
  }

  void WriteRead(const CaseAnswer& answer) {
    if (answer.at_end && !has_identities_) {
      WriteWholePass("buffer.ReadAll()", answer);
      return;
    }
    Line("  buffer.engine().BeginRead();");
    WriteEach("buffer.engine()", answer, "  ");
  }

  void WriteClone(const CaseAnswer& answer) {
    if (!has_identities_) {
      WriteWholePass("buffer.ReadClone()", answer);
      return;
    }
    Line("  {{\n    const std::unique_ptr<Engine> clone = buffer.engine().Clone().value();");
    Line("    clone->BeginRead();");
    WriteEach("(*clone)", answer, "    ");
    Line("  }}");
  }

  void WriteWholePass(const char* call, const CaseAnswer& answer) {
    std::vector<std::string> packets;
    for (const ExpectedPacket& packet : answer.packets) {
      std::string text = InRuns(packet);
      if (packet.dropped != 0) text += "!" + LossBitsToString(packet.dropped);
      packets.push_back(CppLiteral(text));
    }
    if (packets.empty())
      Line("  EXPECT_THAT({}, NoPackets());", call);
    else
      Line("  EXPECT_THAT({},\n              Packets({}));", call,
           fmt::join(packets, ",\n                      "));
  }

  void WriteEach(const char* engine, const CaseAnswer& answer, const char* indent) {
    for (const ExpectedPacket& packet : answer.packets) {
      Line("{0}{{\n{0}  const Packet* const packet = {1}.NextPacket();", indent, engine);
      Line("{}  ASSERT_NE(packet, nullptr);", indent);
      Line("{}  EXPECT_EQ(Describe(*packet), {});", indent, CppLiteral(InRuns(packet)));
      Line("{}  EXPECT_EQ(LossBitsToString(packet->dropped), {});", indent,
           CppLiteral(LossBitsToString(packet.dropped)));
      if (has_identities_) {
        Line("{}  EXPECT_EQ(packet->identity, (Identity{{{}}}));", indent,
             IdentityText(packet.identity));
      }
      Line("{}}}", indent);
    }
    if (answer.at_end) Line("{}EXPECT_EQ({}.NextPacket(), nullptr);", indent, engine);
  }
};

}  // namespace

PlainStream WithRuns(const PlainStream& stream) {
  PlainStream runs = stream;
  for (auto& step : runs.steps) {
    if (step->step.kind != StreamStep::Kind::kCommit) continue;
    auto filled = std::make_shared<PlainStep>(*step);
    const CasePayload payload(*step);
    for (const Fragment& fragment : payload.fragments) {
      const char fill = FillOf(payload.body(fragment));
      if (fill != 0) filled->payload.replace(fragment.body, fragment.size(), fragment.size(), fill);
    }
    step = std::move(filled);
  }
  return runs;
}

std::string WriteRingscopeCase(const TestCase& test_case, const Both<const EngineInfo*>& engines,
                               const Both<Answers>& answers) {
  return RingscopeCase(test_case, engines, answers).Write();
}

}  // namespace ringscope
