#include "formats/ops/perfetto_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "core/base/wire.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/fragment.h"
#include "formats/ops/case_text.h"

namespace ringscope {
namespace {

// Limits of the helpers of Perfetto's tests.
constexpr size_t kMostPacketBytes = 4096;    // AddPacket, size header included
constexpr size_t kMostFragmentBytes = 4094;  // FakePacketFragment of bytes

/// Since then previous_packet_dropped reports causes, and reads return them as a number.
constexpr uint32_t kFirstReleaseWithCauses = 57;
/// Since then there is the counter chunks_relocated.
constexpr uint32_t kFirstReleaseWithRelocated = 58;

std::string FlagNames(uint8_t flags) {
  std::vector<std::string> names;
  if ((flags & kFirstContinues) != 0) names.emplace_back("kContFromPrevChunk");
  if ((flags & kLastContinues) != 0) names.emplace_back("kContOnNextChunk");
  if ((flags & kNeedsPatching) != 0) names.emplace_back("kChunkNeedsPatching");
  if ((flags & ~kAbiFlags) != 0) names.push_back(std::to_string(flags & ~kAbiFlags));
  return fmt::format("{}", fmt::join(names, " | "));
}

std::string Ids(SequenceKey sequence, ChunkId chunk) {
  return fmt::format("ProducerID({}), WriterID({}), ChunkID({}{})", Raw(sequence.producer),
                     Raw(sequence.writer), Raw(chunk), UnsignedSuffix(Raw(chunk)));
}

class PerfettoCase : CaseText {
  using StepKind = StreamStep::Kind;

 public:
  PerfettoCase(const TestCase& test_case, const Both<const EngineInfo*>& engines,
               const Both<Answers>& answers, CaseStyle style)
      : CaseText(test_case, engines, answers), style_(style) {
    has_causes_ =
        style_ == CaseStyle::kPerfettoV2 && engines_.a->release >= kFirstReleaseWithCauses;
    is_number_ = engines_.a->release >= kFirstReleaseWithCauses;
  }

  std::string Write() {
    Comment();
    Line("TEST_F({}, {}) {{",
         style_ == CaseStyle::kPerfettoV2 ? "TraceBufferV2Test" : "TraceBufferTest",
         "Reproducer_" + CauseName());
    Line("  ResetBuffer({}{});", case_.stream.size,
         case_.stream.policy == FillPolicy::kDiscard ? ", TraceBuffer::kDiscard" : "");
    // What the writers of real traces would not send is checked in a debug build.
    if (answers_.a.stats.abi_violations + answers_.b.stats.abi_violations > 0)
      Line("  SuppressClientDchecksForTesting();");
    if (ReadsPackets()) {
      Line("  {} previous_packet_dropped = {};", is_number_ ? "uint32_t" : "bool",
           is_number_ ? "0" : "false");
    }
    if (ReadsPackets() && has_identities_) Line("  TraceBuffer::PacketSequenceProperties props;");
    for (size_t i = 0; i < case_.stream.steps.size(); ++i) {
      const PlainStep& step = *case_.stream.steps[i];
      switch (step.step.kind) {
        case StepKind::kCommit:
          WriteCommit(step);
          break;
        case StepKind::kPatch:
          WritePatch(step, answers_.a.steps[i].patched);
          break;
        case StepKind::kRead:
          WriteRead(answers_.a.steps[i]);
          break;
        case StepKind::kClone:
          WriteClone(answers_.a.steps[i]);
          break;
      }
    }
    WriteRead(answers_.a.last_read);
    WriteCounters();
    Line("}}");
    return std::move(text_);
  }

 private:
  bool ReadsPackets() const {
    return !answers_.a.last_read.packets.empty() ||
           std::any_of(answers_.a.steps.begin(), answers_.a.steps.end(),
                       [](const CaseAnswer& answer) { return !answer.packets.empty(); });
  }

  void WriteCommit(const PlainStep& step) {
    const ChunkCommit& commit = step.step.commit;
    if (has_identities_ || !WriteFakeChunk(step)) WriteRawCommit(step, commit);
  }

  /// @return false: the helper has no words for it
  bool WriteFakeChunk(const PlainStep& step) {
    const ChunkCommit& commit = step.step.commit;
    const std::string& payload = step.payload;
    std::vector<Fragment> fragments;
    const FragmentStatus end =
        VisitFragments(wire::AsBytes(payload), commit.fragments,
                       [&](const Fragment& fragment) { fragments.push_back(fragment); });
    const uint32_t used = fragments.empty() ? 0 : fragments.back().end;
    const std::string_view rest = std::string_view(payload).substr(used);
    const bool only_zeros = rest.find_first_not_of('\0') == std::string_view::npos;
    const size_t missing = commit.fragments - fragments.size();
    constexpr size_t kMostMissing = 3;
    if (end == FragmentStatus::kCorrupted || !only_zeros || missing > kMostMissing ||
        (missing > 0 && !rest.empty()))
      return false;
    std::string calls;
    uint8_t left = commit.flags;
    for (size_t i = 0; i < fragments.size(); ++i) {
      const Fragment& fragment = fragments[i];
      const std::string_view body =
          std::string_view(payload).substr(fragment.body, fragment.size());
      const char letter = LetterOf(body);
      const size_t size = fragment.size_with_header();
      if (letter == 0 || size > kMostPacketBytes || size != WithSizeVarint(fragment.size())) {
        if (size > kMostListedBytes) return false;
        calls += fmt::format("\n      .AddPacket({{{}}})",
                             ByteList(std::string_view(payload).substr(fragment.offset, size)));
        continue;
      }
      uint8_t flags = 0;
      if (i == 0) flags |= left & kFirstContinues;
      if (i + 1 == fragments.size()) flags |= left & (kLastContinues | kNeedsPatching);
      left &= static_cast<uint8_t>(~flags);
      calls += fmt::format("\n      .AddPacket({}, '{}'{})", size, letter,
                           flags == 0 ? "" : ", " + FlagNames(flags));
    }
    for (size_t i = 0; i < missing; ++i) calls += "\n      .IncrementNumPackets()";
    if (left != 0) calls += fmt::format("\n      .SetFlags({})", FlagNames(left));
    if (!rest.empty())
      calls += fmt::format("\n      .PadTo({})", kStoredHeaderSize + payload.size());
    Line("  CreateChunk({}){}\n      .CopyIntoTraceBuffer({});", Ids(commit.sequence, commit.chunk),
         calls, commit.complete ? "" : "/*chunk_complete=*/false");
    return true;
  }

  void WriteRawCommit(const PlainStep& step, const ChunkCommit& commit) {
    std::string data = "nullptr, 0";
    Line("  {{");
    if (!step.payload.empty()) {
      text_ += "    static const uint8_t kPayload[] = {";
      constexpr size_t kInLine = 12;
      for (size_t at = 0; at < step.payload.size(); at += kInLine) {
        text_ += fmt::format("\n        {},",
                             ByteList(std::string_view(step.payload).substr(at, kInLine)));
      }
      text_ += "};\n";
      data = "kPayload, sizeof(kPayload)";
    }
    const std::string identity = commit.identity == Identity{}
                                     ? "ClientIdentity(uid_t(0), pid_t(0))"
                                     : fmt::format("ClientIdentity(uid_t({}), pid_t({}))",
                                                   commit.identity.uid, commit.identity.pid);
    Line(
        "    trace_buffer()->CopyChunkUntrusted(\n        ProducerID({}), {}, WriterID({}),\n"
        "        ChunkID({}{}), /*num_fragments=*/{}, /*chunk_flags=*/{},\n"
        "        /*chunk_complete=*/{}, {});",
        Raw(commit.sequence.producer), identity, Raw(commit.sequence.writer), Raw(commit.chunk),
        UnsignedSuffix(Raw(commit.chunk)), commit.fragments, commit.flags, commit.complete, data);
    Line("  }}");
  }

  void WritePatch(const PlainStep& step, bool applied) {
    const ChunkPatches& patches = step.step.patches;
    std::vector<std::string> list;
    for (const auto& [offset, bytes] : step.patches) {
      std::vector<std::string> chars;
      for (const char byte : bytes) {
        const auto code = static_cast<unsigned char>(byte);
        chars.push_back(std::isalnum(code) != 0 ? fmt::format("'{}'", byte)
                                                : fmt::format("0x{:02x}", code));
      }
      list.push_back(fmt::format("{{{}{}, {{{{{}}}}}}}", offset, UnsignedSuffix(offset),
                                 fmt::join(chars, ", ")));
    }
    Line("  ASSERT_{}(TryPatchChunkContents(\n      {},\n      {{{}}}{}));",
         applied ? "TRUE" : "FALSE", Ids(patches.sequence, patches.chunk), fmt::join(list, ", "),
         patches.more ? ", /*other_patches_pending=*/true" : "");
  }

  void WriteRead(const CaseAnswer& answer) {
    Line("\n  trace_buffer()->BeginRead();");
    WritePackets(answer, "", "  ");
    if (answer.at_end) Line("  ASSERT_THAT(ReadPacket(), IsEmpty());");
  }

  void WriteClone(const CaseAnswer& answer) {
    Line("\n  {{\n    std::unique_ptr<TraceBuffer> snap = trace_buffer()->CloneReadOnly();");
    Line("    snap->BeginRead();");
    WritePackets(answer, "snap, ", "    ");
    Line("    ASSERT_THAT(ReadPacket(snap), IsEmpty());\n  }}");
  }

  void WritePackets(const CaseAnswer& answer, const char* of, const char* indent) {
    for (const ExpectedPacket& packet : answer.packets) {
      const bool fits = !packet.slices.empty() &&
                        std::all_of(packet.slices.begin(), packet.slices.end(), [](const auto& s) {
                          return !s.empty() && s.size() <= kMostFragmentBytes;
                        });
      const char* const props = has_identities_ ? "&props" : "nullptr";
      if (fits) {
        std::vector<std::string> slices;
        for (const std::string& slice : packet.slices) {
          const char letter = LetterOf(slice);
          slices.push_back(
              letter != 0 && WithSizeVarint(slice.size()) <= kMostPacketBytes
                  ? fmt::format("FakePacketFragment({}, '{}')", WithSizeVarint(slice.size()),
                                letter)
                  : fmt::format("FakePacketFragment({}, {})", CppLiteral(slice), slice.size()));
        }
        Line("{}ASSERT_THAT(ReadPacket({}{}, &previous_packet_dropped),\n{}    ElementsAre({}));",
             indent, of, props, indent, fmt::join(slices, fmt::format(",\n{}        ", indent)));
      } else {
        WriteRawRead(packet, of[0] != '\0' ? "snap" : "trace_buffer()", indent);
      }
      WriteDropped(packet.dropped, indent);
      if (has_identities_) {
        Line("{}EXPECT_EQ({}, props.producer_id_trusted);", indent, Raw(packet.sequence.producer));
        Line("{}EXPECT_EQ({}, props.writer_id);", indent, Raw(packet.sequence.writer));
        Line("{}EXPECT_EQ(uid_t({}), props.producer_uid_trusted());", indent, packet.identity.uid);
        Line("{}EXPECT_EQ(pid_t({}), props.producer_pid_trusted());", indent, packet.identity.pid);
      }
    }
  }

  /// A packet that the helper cannot read: with empty slices, or large ones.
  void WriteRawRead(const ExpectedPacket& packet, const char* buffer, const char* indent) {
    std::string bytes;
    for (const std::string& slice : packet.slices) bytes += slice;
    const char* const props = has_identities_ ? "props" : "raw_props";
    Line("{}{{", indent);
    Line("{}  TracePacket raw;", indent);
    if (!has_identities_) Line("{}  TraceBuffer::PacketSequenceProperties raw_props;", indent);
    Line("{}  ASSERT_TRUE({}->ReadNextTracePacket(&raw, &{}, &previous_packet_dropped));", indent,
         buffer, props);
    Line("{}  EXPECT_EQ(std::string({}, {}), raw.GetRawBytesForTesting());", indent,
         CppLiteral(bytes), bytes.size());
    Line("{}}}", indent);
  }

  void WriteDropped(uint32_t dropped, const char* indent) {
    if (!is_number_) {
      Line("{}EXPECT_{}(previous_packet_dropped);", indent, dropped != 0 ? "TRUE" : "FALSE");
      return;
    }
    if (!has_causes_ || dropped == 0) {
      Line("{}EXPECT_EQ({}u, previous_packet_dropped);", indent, dropped);
      return;
    }
    std::vector<std::string> names = {"DataLossReason::DATA_LOSS_PRESENT"};
    for (const LossBitName& bit : kLossBitNames) {
      if ((dropped & bit.bit) == 0) continue;
      std::string upper = bit.name;
      for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      names.push_back("DataLossReason::DATA_LOSS_" + upper);
    }
    Line("{}EXPECT_EQ(static_cast<uint32_t>({}),\n{}          previous_packet_dropped);", indent,
         fmt::join(names, fmt::format(" |\n{}                                ", indent)), indent);
  }

  void WriteCounters() {
    text_ += "\n";
    VisitCounters([&](const StatField& field, uint64_t value) {
      if (field.value == &BufferStats::chunks_relocated &&
          engines_.a->release < kFirstReleaseWithRelocated)
        return;
      Line("  EXPECT_EQ({}u, trace_buffer()->stats().{}());", value, field.name);
    });
  }

  const CaseStyle style_;
  bool has_causes_ = false;  // loss bits have names
  bool is_number_ = false;   // reads return loss bits as a number
};

}  // namespace

std::string WritePerfettoCase(const TestCase& test_case, const Both<const EngineInfo*>& engines,
                              const Both<Answers>& answers, CaseStyle style) {
  return PerfettoCase(test_case, engines, answers, style).Write();
}

}  // namespace ringscope
