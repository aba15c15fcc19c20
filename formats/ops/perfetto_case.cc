#include "formats/ops/perfetto_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/base/wire.h"
#include "core/perfetto/commit_request.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/fragment.h"

namespace ringscope {
namespace {

// Limits of the helpers of Perfetto's tests.
constexpr size_t kMostPacketBytes = 4096;    // AddPacket, size header included
constexpr size_t kMostFragmentBytes = 4094;  // FakePacketFragment of bytes

/// Bytes of a fragment that are listed in a line.
constexpr size_t kMostListedBytes = 12;

/// Since then previous_packet_dropped reports causes, and reads return them as a number.
constexpr uint32_t kFirstReleaseWithCauses = 57;
/// Since then there is the counter chunks_relocated.
constexpr uint32_t kFirstReleaseWithRelocated = 58;

/// One operation on the buffer. It refers to the bytes of its record.
struct Step {
  enum class Kind : uint8_t { kCommit, kPatch, kRead, kClone };
  Kind kind = Kind::kRead;
  ChunkCommit commit = {};
  ChunkPatches patches = {};
  std::vector<Patch> patch_list = {};  // of `patches`
  uint64_t max_packets = UINT64_MAX;   // of a read
};

struct Stream {
  uint64_t size = 0;
  FillPolicy policy = FillPolicy::kRingBuffer;
  std::vector<Step> steps;
};

Result<Stream> StreamOf(std::span<const Op> ops) {
  Stream stream;
  std::optional<BufferId> buffer;
  bool has_others = false;
  const auto note = [&](uint64_t id) {
    const BufferId own{static_cast<uint16_t>(id)};
    has_others |= buffer && *buffer != own;
    buffer = own;
  };
  CommitRequestParser parser;
  for (const Op& op : ops) {
    if (const auto* setup = std::get_if<BufferSetUp>(&op.body)) {
      note(Raw(setup->id));
      stream.size = setup->size;
      stream.policy = setup->policy;
    } else if (const auto* commit = std::get_if<Commit>(&op.body)) {
      parser.Parse(commit->request);
      for (const ChunkToMove& chunk : parser.chunks()) {
        note(chunk.target_buffer.value_or(0));
        const auto moved = ToChunkCommit(commit->producer, chunk);
        if (moved) stream.steps.push_back({.kind = Step::Kind::kCommit, .commit = *moved});
      }
      for (const ChunkToPatch& patch : parser.patches()) {
        note(patch.target_buffer.value_or(0));
        Step& step = stream.steps.emplace_back(Step{.kind = Step::Kind::kPatch});
        step.patches = ToChunkPatches(commit->producer, patch, step.patch_list);
        step.patches.patches = {};  // the list moves when the steps grow
      }
    } else if (const auto* read = std::get_if<ReadPass>(&op.body)) {
      if (read->buffer) note(Raw(*read->buffer));
      stream.steps.push_back({.max_packets = read->max_packets.value_or(UINT64_MAX)});
    } else if (const auto* clone = std::get_if<CloneRead>(&op.body)) {
      note(Raw(clone->buffer));
      stream.steps.push_back({.kind = Step::Kind::kClone});
    }
  }
  if (has_others)
    return Fail(ErrorCode::kUnsupported, "the records are of several buffers, a test is of one");
  for (Step& step : stream.steps) step.patches.patches = step.patch_list;
  return stream;
}

/// A packet, as the test expects it.
struct ExpectedPacket {
  std::vector<std::string> slices;
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
  std::vector<Answer> steps;  // then one for a last read
  BufferStats stats;          // in the end
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
    expected.dropped = packet->dropped;
  }
}

/// Puts the stream through an engine, and reads all that is left at the end.
Result<Answers> AnswersOf(const PerfettoCase::Side& side, const Stream& stream) {
  RS_ASSIGN_OR_RETURN(const auto engine,
                      side.engine->create({.size = side.size.value_or(stream.size),
                                           .policy = side.policy.value_or(stream.policy)}));
  Answers answers;
  for (const Step& step : stream.steps) {
    Answer& answer = answers.steps.emplace_back();
    switch (step.kind) {
      case Step::Kind::kCommit:
        engine->Commit(step.commit);
        break;
      case Step::Kind::kPatch:
        answer.patched = engine->ApplyPatches(step.patches);
        break;
      case Step::Kind::kRead:
        ReadInto(*engine, step.max_packets, answer);
        break;
      case Step::Kind::kClone: {
        RS_ASSIGN_OR_RETURN(const auto clone, engine->Clone());
        ReadInto(*clone, UINT64_MAX, answer);
        break;
      }
    }
  }
  ReadInto(*engine, UINT64_MAX, answers.steps.emplace_back());
  answers.stats = engine->stats();
  if (engine->failure() != nullptr) return tl::unexpected<Error>(*engine->failure());
  return answers;
}

/// A fragment's bytes in a chunk, with its size in front.
size_t WithSizeVarint(size_t bytes) { return bytes + wire::VarintSize(bytes); }

/// The letter of bytes as the tests' helpers make them, "a00-a01-"; 0 for other bytes.
char LetterOf(std::string_view bytes) {
  if (bytes.empty() || std::isalnum(static_cast<unsigned char>(bytes[0])) == 0) return 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const char of_four[] = {bytes[0], static_cast<char>('0' + i / 40 % 10),
                            static_cast<char>('0' + i / 4 % 10), '-'};
    if (bytes[i] != of_four[i % 4]) return 0;
  }
  return bytes[0];
}

/// "0x05, 0x61"
std::string ByteList(std::string_view bytes) {
  std::string list;
  for (const char byte : bytes)
    list += fmt::format("{}0x{:02x}", list.empty() ? "" : ", ", static_cast<uint8_t>(byte));
  return list;
}

/// A string literal of any bytes, in several lines if it is long.
std::string CppLiteral(std::string_view bytes) {
  constexpr size_t kInLine = 48;
  if (bytes.size() > kInLine)
    return CppLiteral(bytes.substr(0, kInLine)) + "\n        " + CppLiteral(bytes.substr(kInLine));
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

const char* UnsignedSuffix(uint64_t number) {
  return number > UINT32_MAX ? "ull" : number > INT32_MAX ? "u" : "";
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
                     Raw(sequence.writer), Raw(chunk), UnsignedSuffix(Raw(chunk)));
}

/// A test being written.
class CaseWriter {
 public:
  CaseWriter(const PerfettoCase& test_case, const Stream& stream, const Answers& a,
             const Answers& b)
      : case_(test_case),
        stream_(stream),
        a_(a),
        b_(b),
        release_(test_case.a.engine->release),
        is_v2_(test_case.a.engine->name != "v1") {}

  std::string Write() {
    Comment();
    Line("TEST_F({}, Reproducer_{}) {{", is_v2_ ? "TraceBufferV2Test" : "TraceBufferTest",
         CauseName());
    Line("  ResetBuffer({}{});", case_.a.size.value_or(stream_.size),
         case_.a.policy.value_or(stream_.policy) == FillPolicy::kDiscard ? ", TraceBuffer::kDiscard"
                                                                         : "");
    // What the writers of real traces would not send is checked in a debug build.
    if (a_.stats.abi_violations + b_.stats.abi_violations > 0)
      Line("  SuppressClientDchecksForTesting();");
    if (std::ranges::any_of(a_.steps, [](const Answer& step) { return !step.packets.empty(); }))
      Line("  {} previous_packet_dropped = {};", is_number() ? "uint32_t" : "bool",
           is_number() ? "0" : "false");
    for (size_t i = 0; i < a_.steps.size(); ++i) {
      const Step& step = i < stream_.steps.size() ? stream_.steps[i] : kLastRead;
      switch (step.kind) {
        case Step::Kind::kCommit:
          if (!WriteFakeChunk(step.commit)) WriteRawCommit(step.commit);
          break;
        case Step::Kind::kPatch:
          WritePatch(step.patches, a_.steps[i].patched);
          break;
        case Step::Kind::kRead:
          WriteRead(a_.steps[i]);
          break;
        case Step::Kind::kClone:
          WriteClone(a_.steps[i]);
          break;
      }
    }
    WriteCounters();
    Line("}}");
    return std::move(text_);
  }

 private:
  inline static const Step kLastRead = {};

  template <typename... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  /// Reads return loss bits as a number.
  bool is_number() const { return release_ >= kFirstReleaseWithCauses; }

  /// "RelocatesCompletedChunk", of the cause.
  std::string CauseName() const {
    std::string name;
    bool upper = true;
    const size_t rule = case_.cause.find(':');  // of "v2@58:relocates_completed_chunk"
    for (const char c : case_.cause.substr(rule == std::string::npos ? 0 : rule + 1)) {
      const auto code = static_cast<unsigned char>(c);
      if (std::isalnum(code) != 0) name += static_cast<char>(upper ? std::toupper(code) : c);
      upper = std::isalnum(code) == 0;
    }
    return name;
  }

  void Comment() {
    const auto side = [&](const PerfettoCase::Side& of) {
      std::string text = of.engine->name;
      if (of.size || of.policy)
        text += fmt::format(" with a buffer of {} bytes ({})", of.size.value_or(stream_.size),
                            Name(of.policy.value_or(stream_.policy)));
      return text;
    };
    const std::string text =
        fmt::format("{}: {}. Expected is what {} gives; {} gives something else.", case_.cause,
                    case_.what, side(case_.a), side(case_.b));
    const std::string wrapped = Wrap(Printable(text), size_t{0}, kTextColumns - 3);
    for (size_t begin = 0; begin <= wrapped.size();) {
      const size_t end = std::min(wrapped.find('\n', begin), wrapped.size());
      Line("// {}", std::string_view(wrapped).substr(begin, end - begin));
      begin = end + 1;
    }
  }

  /// Writes a chunk by the helper for chunks.
  /// @return false if the helper cannot make it
  bool WriteFakeChunk(const ChunkCommit& commit) {
    const std::string_view payload = wire::AsText(commit.payload);
    std::vector<Fragment> fragments;
    const FragmentStatus end =
        VisitFragments(commit.payload, commit.fragments,
                       [&](const Fragment& fragment) { fragments.push_back(fragment); });
    const uint32_t used = fragments.empty() ? 0 : fragments.back().end;
    const std::string_view rest = payload.substr(used);
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
      const std::string_view body = payload.substr(fragment.body, fragment.size());
      const char letter = LetterOf(body);
      const size_t size = fragment.size_with_header();
      if (letter == 0 || size > kMostPacketBytes || size != WithSizeVarint(fragment.size())) {
        if (size > kMostListedBytes) return false;
        calls += fmt::format("\n      .AddPacket({{{}}})",
                             ByteList(payload.substr(fragment.offset, size)));
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

  void WriteRawCommit(const ChunkCommit& commit) {
    const std::string_view payload = wire::AsText(commit.payload);
    std::string data = "nullptr, 0";
    Line("  {{");
    if (!payload.empty()) {
      text_ += "    static const uint8_t kPayload[] = {";
      constexpr size_t kInLine = 12;
      for (size_t at = 0; at < payload.size(); at += kInLine) {
        text_ += fmt::format("\n        {},", ByteList(payload.substr(at, kInLine)));
      }
      text_ += "};\n";
      data = "kPayload, sizeof(kPayload)";
    }
    Line(
        "    trace_buffer()->CopyChunkUntrusted(\n        ProducerID({}), ClientIdentity(uid_t(0), "
        "pid_t(0)), WriterID({}),\n"
        "        ChunkID({}{}), /*num_fragments=*/{}, /*chunk_flags=*/{},\n"
        "        /*chunk_complete=*/{}, {});",
        Raw(commit.sequence.producer), Raw(commit.sequence.writer), Raw(commit.chunk),
        UnsignedSuffix(Raw(commit.chunk)), commit.fragments, commit.flags, commit.complete, data);
    Line("  }}");
  }

  void WritePatch(const ChunkPatches& patches, bool applied) {
    std::vector<std::string> list;
    for (const Patch& patch : patches.patches) {
      std::vector<std::string> chars;
      for (const uint8_t code : Bytes(patch.data, kPatchSize)) {
        chars.push_back(std::isalnum(code) != 0 ? fmt::format("'{}'", static_cast<char>(code))
                                                : fmt::format("0x{:02x}", code));
      }
      list.push_back(fmt::format("{{{}{}, {{{{{}}}}}}}", patch.offset, UnsignedSuffix(patch.offset),
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
        Line("{}ASSERT_THAT(ReadPacket({}nullptr, &previous_packet_dropped),\n{}    ElementsAre({}));",
             indent, of, indent, fmt::join(slices, fmt::format(",\n{}        ", indent)));
      } else {
        WriteRawRead(packet, of[0] != '\0' ? "snap" : "trace_buffer()", indent);
      }
      WriteDropped(packet.dropped, indent);
    }
  }

  /// A packet that the helper cannot read: with empty slices, or large ones.
  void WriteRawRead(const ExpectedPacket& packet, const char* buffer, const char* indent) {
    std::string bytes;
    for (const std::string& slice : packet.slices) bytes += slice;
    Line("{}{{", indent);
    Line("{}  TracePacket raw;", indent);
    Line("{}  TraceBuffer::PacketSequenceProperties raw_props;", indent);
    Line("{}  ASSERT_TRUE({}->ReadNextTracePacket(&raw, &raw_props, &previous_packet_dropped));",
         indent, buffer);
    Line("{}  EXPECT_EQ(std::string({}, {}), raw.GetRawBytesForTesting());", indent,
         CppLiteral(bytes), bytes.size());
    Line("{}}}", indent);
  }

  void WriteDropped(uint32_t dropped, const char* indent) {
    if (!is_number()) {
      Line("{}EXPECT_{}(previous_packet_dropped);", indent, dropped != 0 ? "TRUE" : "FALSE");
      return;
    }
    if (!is_v2_ || dropped == 0) {
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

  /// The counters that moved, or that the sides do not agree on.
  void WriteCounters() {
    text_ += "\n";
    for (const StatField& field : kStatFields) {
      const uint64_t a = a_.stats.*field.value, b = b_.stats.*field.value;
      if (field.value == &BufferStats::buffer_size || (a == 0 && b == 0)) continue;
      if (field.value == &BufferStats::chunks_relocated && release_ < kFirstReleaseWithRelocated)
        continue;
      Line("  EXPECT_EQ({}u, trace_buffer()->stats().{}());", a, field.name);
    }
  }

  const PerfettoCase& case_;
  const Stream& stream_;
  const Answers& a_;
  const Answers& b_;
  const uint32_t release_;
  const bool is_v2_;
  std::string text_;
};

}  // namespace

Result<std::string> WritePerfettoCase(const PerfettoCase& test_case) {
  RS_ASSIGN_OR_RETURN(const Stream stream, StreamOf(test_case.ops));
  RS_ASSIGN_OR_RETURN(const Answers a, AnswersOf(test_case.a, stream));
  RS_ASSIGN_OR_RETURN(const Answers b, AnswersOf(test_case.b, stream));
  return CaseWriter(test_case, stream, a, b).Write();
}

std::string PerfettoCasePath(const std::string& log) {
  for (const std::string_view end : {".ops.jsonl", ".jsonl"})
    if (log.ends_with(end) && log.size() > end.size())
      return log.substr(0, log.size() - end.size()) + ".cc";
  return log + ".cc";
}

}  // namespace ringscope
