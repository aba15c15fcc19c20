#include "formats/ops/test_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "core/base/text.h"
#include "core/base/wire.h"
#include "core/fuzz/shrink.h"
#include "core/perfetto/commit_fragments.h"
#include "core/perfetto/data_loss.h"

namespace ringscope {
namespace {

using StepKind = StreamStep::Kind;

// Limits of the helpers of Perfetto's tests.
constexpr size_t kMostPacketBytes = 4096;    // AddPacket, size header included
constexpr size_t kMostFragmentBytes = 4094;  // FakePacketFragment of bytes

/// Bytes of a fragment that are listed in a line.
constexpr size_t kMostListed = 12;

/// Since then previous_packet_dropped reports causes, and reads return them as a number.
constexpr uint32_t kFirstReleaseWithCauses = 57;
/// Since then there is the counter chunks_relocated.
constexpr uint32_t kFirstReleaseWithRelocated = 58;

/// A packet, as the test expects it.
struct ExpectedPacket {
  std::vector<std::string> slices;
  Identity identity;
  SequenceKey sequence;
  uint32_t dropped = 0;
};

/// What an engine gave for one step.
struct Answer {
  bool patched = false;
  std::vector<ExpectedPacket> packets;
  bool at_end = false;  // the read ended as there was no packet left
};

/// All that an engine gave for a stream.
struct Answers {
  std::vector<Answer> steps;
  Answer last_read;
  BufferStats stats;  // in the end
  std::string map;    // of the buffer before the last read
};

void ReadInto(Engine& engine, uint64_t max_packets, Answer& answer) {
  engine.BeginRead();
  while (answer.packets.size() < max_packets) {
    const Packet* const packet = engine.NextPacket();
    if (packet == nullptr) {
      answer.at_end = true;
      return;
    }
    ExpectedPacket& expected = answer.packets.emplace_back();
    for (const Bytes slice : packet->slices) expected.slices.emplace_back(wire::AsText(slice));
    expected.identity = packet->identity;
    expected.sequence = packet->sequence;
    expected.dropped = packet->dropped;
  }
}

/// "[ 1:1#0 32 ][ padding 16 ]": what is in a buffer, by offset, and the bytes of each.
std::string MapOf(const Engine& engine) {
  std::string map;
  const auto cursor = engine.VisitChunks([&](const ObservedChunk& chunk) {
    if (chunk.is_padding()) {
      map += fmt::format("[ padding {} ]", chunk.outer_size);
      return;
    }
    const uint32_t read = chunk.payload_size - chunk.payload_avail;
    map += fmt::format("[ {}#{} {}{}{} ]", ToString(chunk.sequence), Raw(chunk.chunk),
                       chunk.outer_size, chunk.incomplete ? " incomplete" : "",
                       read > 0 ? fmt::format(" {} read", read) : "");
  });
  if (!cursor) return "";
  return fmt::format("{} write cursor {}", map.empty() ? "[ ]" : map, *cursor);
}

Result<Answers> AnswersOf(const EngineInfo& info, const PlainStream& stream) {
  RS_ASSIGN_OR_RETURN(const auto engine,
                      info.create({.size = stream.size, .policy = stream.policy}));
  Answers answers;
  for (const auto& step : stream.steps) {
    Answer& answer = answers.steps.emplace_back();
    const Status done = step->With([&](const StreamStep& view) -> Status {
      switch (view.kind) {
        case StepKind::kCommit:
          engine->Commit(view.commit);
          break;
        case StepKind::kPatch:
          answer.patched = engine->ApplyPatches(view.patches);
          break;
        case StepKind::kRead:
          ReadInto(*engine, view.max_packets, answer);
          break;
        case StepKind::kClone: {
          RS_ASSIGN_OR_RETURN(const auto clone, engine->Clone());
          ReadInto(*clone, UINT64_MAX, answer);
          break;
        }
      }
      return {};
    });
    RS_RETURN_IF_ERROR(done);
  }
  answers.map = MapOf(*engine);
  ReadInto(*engine, UINT64_MAX, answers.last_read);
  answers.stats = engine->stats();
  if (engine->failure() != nullptr) return tl::unexpected<Error>(*engine->failure());
  return answers;
}

/// The letter of FragmentBytes that these bytes are of; 0: they are not.
char LetterOf(std::string_view bytes) {
  if (bytes.empty() || std::isalnum(static_cast<unsigned char>(bytes[0])) == 0) return 0;
  return FragmentBytes(bytes.size(), bytes[0]) == bytes ? bytes[0] : '\0';
}

size_t WithSize(size_t bytes) { return bytes + wire::VarintSize(bytes); }

std::string ByteList(std::string_view bytes) {
  std::string list;
  for (const char byte : bytes)
    list += fmt::format("{}0x{:02x}", list.empty() ? "" : ", ", static_cast<uint8_t>(byte));
  return list;
}

/// A string literal of any bytes, in several lines if it is long.
std::string Literal(std::string_view bytes) {
  constexpr size_t kInLine = 48;
  if (bytes.size() > kInLine)
    return Literal(bytes.substr(0, kInLine)) + "\n        " + Literal(bytes.substr(kInLine));
  std::string text;
  for (const char byte : bytes) {
    const auto code = static_cast<unsigned char>(byte);
    if (byte == '"' || byte == '\\')
      text += fmt::format("\\{}", byte);
    else if (code >= 0x20 && code < 0x7f && byte != '?')
      text += byte;
    else
      text += fmt::format("\\{:03o}", code);  // always three digits: what follows is apart
  }
  return '"' + text + '"';
}

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
                     Raw(sequence.writer), Raw(chunk), Raw(chunk) > INT32_MAX ? "u" : "");
}

/// "[ a20 | b12-> ]": a chunk's fragments, with their sizes in the chunk.
std::string Drawing(const StreamStep& step, const PlainStep& plain) {
  ChunkCommit commit = step.commit;
  commit.payload = wire::AsBytes(plain.payload);
  WrittenChunk written;
  ReadWrittenChunk(commit, written);
  std::vector<std::string> fragments;
  uint32_t end = 0;
  for (const WrittenFragment& fragment : written.fragments) {
    const bool begun =
        fragment.kind == FragmentKind::kEnd || fragment.kind == FragmentKind::kContinue;
    const bool goes_on =
        fragment.kind == FragmentKind::kBegin || fragment.kind == FragmentKind::kContinue;
    end = fragment.offset + static_cast<uint32_t>(WithSize(fragment.size));
    const char letter =
        LetterOf(std::string_view(plain.payload).substr(end - fragment.size, fragment.size));
    fragments.push_back(fmt::format("{}{}{}{}", begun ? "->" : "", letter == 0 ? '*' : letter,
                                    WithSize(fragment.size), goes_on ? "->" : ""));
  }
  if (written.end == ChunkEnd::kAborted) fragments.emplace_back("abort marker");
  if (written.end == ChunkEnd::kBroken) fragments.emplace_back("broken");
  std::string notes;
  if (!step.commit.complete) notes += " scraped";
  if ((step.commit.flags & kNeedsPatching) != 0) notes += " needs patching";
  return fmt::format("{}#{} [{}{} ]{}", ToString(step.commit.sequence), Raw(step.commit.chunk),
                     fragments.empty() ? "" : " ", fmt::join(fragments, " | "), notes);
}

class CaseWriter {
 public:
  CaseWriter(const TestCase& test_case, const Both<const EngineInfo*>& engines,
             const Both<Answers>& answers, CaseStyle style)
      : case_(test_case), engines_(engines), answers_(answers), style_(style) {
    for (const auto& step : case_.stream.steps)
      has_identities_ |= step->step.commit.identity != Identity{};
    has_causes_ =
        style_ == CaseStyle::kPerfettoV2 && engines_.a->release >= kFirstReleaseWithCauses;
    is_number_ = engines_.a->release >= kFirstReleaseWithCauses;
  }

  std::string Write() {
    Comment();
    Line("TEST_F({}, {}) {{",
         style_ == CaseStyle::kPerfettoV2 ? "TraceBufferV2Test" : "TraceBufferTest", Name());
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
  template <typename... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  /// "Reproducer_RelocatesCompletedChunk"
  std::string Name() const {
    std::string name = "Reproducer_";
    bool upper = true;
    const size_t rule = case_.cause.find(':');  // of "v2@58:relocates_completed_chunk"
    for (const char c : case_.cause.substr(rule == std::string::npos ? 0 : rule + 1)) {
      const auto code = static_cast<unsigned char>(c);
      if (std::isalnum(code) != 0) name += static_cast<char>(upper ? std::toupper(code) : c);
      upper = std::isalnum(code) == 0;
    }
    return name;
  }

  /// What the case is about, its chunks, and both buffers.
  void Comment() {
    const auto add = [&](std::string_view content) {
      std::string wrapped = Wrap(Printable(content), size_t{0}, kTextColumns - 3);
      size_t begin = 0;
      while (begin <= wrapped.size()) {
        const size_t end = std::min(wrapped.find('\n', begin), wrapped.size());
        Line("// {}", std::string_view(wrapped).substr(begin, end - begin));
        begin = end + 1;
      }
    };
    add(fmt::format("{}: {}.", case_.cause, case_.what));
    add(fmt::format("Expected is what {} gives; {} gives something else.", engines_.a->name,
                    engines_.b->name));
    Line("//");
    for (const auto& step : case_.stream.steps) {
      switch (step->step.kind) {
        case StepKind::kCommit:
          add(Drawing(step->step, *step));
          break;
        case StepKind::kPatch:
          add(fmt::format("{}#{} is patched", ToString(step->step.patches.sequence),
                          Raw(step->step.patches.chunk)));
          break;
        case StepKind::kRead:
          add(step->step.max_packets == UINT64_MAX
                  ? "read"
                  : "read of at most " + Count(step->step.max_packets, "packet"));
          break;
        case StepKind::kClone:
          add("clone");
          break;
      }
    }
    Line("//");
    Line("// The buffer before the last read, in bytes:");
    for (const Side side : kSides) {
      const std::string& map = answers_[side].map;
      add(fmt::format("{}: {}", engines_[side]->name, map.empty() ? "not reported" : map));
    }
  }

  bool ReadsPackets() const {
    return !answers_.a.last_read.packets.empty() ||
           std::any_of(answers_.a.steps.begin(), answers_.a.steps.end(),
                       [](const Answer& answer) { return !answer.packets.empty(); });
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
      if (letter == 0 || size > kMostPacketBytes || size != WithSize(fragment.size())) {
        if (size > kMostListed) return false;
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
        Raw(commit.chunk) > INT32_MAX ? "u" : "", commit.fragments, commit.flags, commit.complete,
        data);
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
      list.push_back(fmt::format("{{{}{}, {{{{{}}}}}}}", offset, offset > INT32_MAX ? "ull" : "",
                                 fmt::join(chars, ", ")));
    }
    Line("  ASSERT_{}(TryPatchChunkContents(\n      {},\n      {{{}}}{}));",
         applied ? "TRUE" : "FALSE", Ids(patches.sequence, patches.chunk), fmt::join(list, ", "),
         patches.more ? ", /*other_patches_pending=*/true" : "");
  }

  void WriteRead(const Answer& answer) {
    Line("\n  trace_buffer()->BeginRead();");
    WritePackets(answer, "", "  ");
    if (answer.at_end) Line("  ASSERT_THAT(ReadPacket(), IsEmpty());");
  }

  void WriteClone(const Answer& answer) {
    Line("\n  {{\n    std::unique_ptr<TraceBuffer> snap = trace_buffer()->CloneReadOnly();");
    Line("    snap->BeginRead();");
    WritePackets(answer, "snap, ", "    ");
    Line("    ASSERT_THAT(ReadPacket(snap), IsEmpty());\n  }}");
  }

  void WritePackets(const Answer& answer, const char* of, const char* indent) {
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
              letter != 0 && WithSize(slice.size()) <= kMostPacketBytes
                  ? fmt::format("FakePacketFragment({}, '{}')", WithSize(slice.size()), letter)
                  : fmt::format("FakePacketFragment({}, {})", Literal(slice), slice.size()));
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

  /// A packet that the helper can not read: with empty slices, or large ones.
  void WriteRawRead(const ExpectedPacket& packet, const char* buffer, const char* indent) {
    std::string bytes;
    for (const std::string& slice : packet.slices) bytes += slice;
    const char* const props = has_identities_ ? "props" : "raw_props";
    Line("{}{{", indent);
    Line("{}  TracePacket raw;", indent);
    if (!has_identities_) Line("{}  TraceBuffer::PacketSequenceProperties raw_props;", indent);
    Line("{}  ASSERT_TRUE({}->ReadNextTracePacket(&raw, &{}, &previous_packet_dropped));", indent,
         buffer, props);
    Line("{}  EXPECT_EQ(std::string({}, {}), raw.GetRawBytesForTesting());", indent, Literal(bytes),
         bytes.size());
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

  /// Counters that moved, or that the engines do not agree on.
  void WriteCounters() {
    text_ += "\n";
    for (const StatField& field : kStatFields) {
      const uint64_t a = answers_.a.stats.*field.value, b = answers_.b.stats.*field.value;
      if (field.value == &BufferStats::buffer_size || (a == 0 && a == b)) continue;
      if (field.value == &BufferStats::chunks_relocated &&
          engines_.a->release < kFirstReleaseWithRelocated)
        continue;
      Line("  EXPECT_EQ({}u, trace_buffer()->stats().{}());", a, field.name);
    }
  }

  const TestCase& case_;
  const Both<const EngineInfo*>& engines_;
  const Both<Answers>& answers_;
  const CaseStyle style_;
  bool has_identities_ = false;
  bool has_causes_ = false;  // loss bits have names
  bool is_number_ = false;   // reads return loss bits as a number
  std::string text_;
};

}  // namespace

Result<CaseStyle> ParseCaseStyle(std::string_view text) {
  for (size_t i = 0; i < kEnumNames<CaseStyle>.size(); ++i)
    if (text == kEnumNames<CaseStyle>[i]) return static_cast<CaseStyle>(i);
  return Fail(ErrorCode::kUsage, fmt::format("there is no style '{}' of test cases", text), {},
              fmt::format("choose {}", fmt::join(kEnumNames<CaseStyle>, " or ")));
}

std::string TestCasePath(const std::string& log) {
  for (const std::string_view end : {".ops.jsonl", ".jsonl"})
    if (log.ends_with(end) && log.size() > end.size())
      return log.substr(0, log.size() - end.size()) + ".cc";
  return log + ".cc";
}

Result<std::string> WriteTestCase(const TestCase& test_case, const Both<const EngineInfo*>& engines,
                                  CaseStyle style) {
  Both<Answers> answers;
  for (const Side side : kSides) {
    RS_ASSIGN_OR_RETURN(answers[side], AnswersOf(*engines[side], test_case.stream));
  }
  return CaseWriter(test_case, engines, answers, style).Write();
}

}  // namespace ringscope
