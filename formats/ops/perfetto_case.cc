#include "formats/ops/perfetto_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <memory>
#include <sstream>
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

/// Puts the records through both engines, and writes what side A gives.
class CaseWriter {
 public:
  explicit CaseWriter(const PerfettoCase& test_case)
      : case_(test_case),
        release_(test_case.a.engine->release),
        is_v2_(test_case.a.engine->name != "v1") {}

  Result<std::string> Write() {
    for (const Op& op : case_.ops)
      if (const auto* setup = std::get_if<BufferSetUp>(&op.body)) setup_ = *setup;
    RS_ASSIGN_OR_RETURN(a_, MakeEngine(case_.a));
    RS_ASSIGN_OR_RETURN(b_, MakeEngine(case_.b));
    for (const Op& op : case_.ops) RS_RETURN_IF_ERROR(AddOp(op));
    if (has_other_buffers_)
      return Fail(ErrorCode::kUnsupported, "the records are of several buffers, a test is of one");
    WriteRead(UINT64_MAX);
    WriteCounters();
    for (const auto* engine : {&a_, &b_})
      if ((*engine)->failure() != nullptr) return tl::unexpected<Error>(*(*engine)->failure());
    std::string body;
    body.swap(text_);
    WriteStart();
    return text_ + body + "}\n";
  }

 private:
  template <typename... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  /// Returns true if reads return loss bits as a number.
  bool is_number() const { return release_ >= kFirstReleaseWithCauses; }

  uint64_t SizeOf(const PerfettoCase::Side& side) const { return side.size.value_or(setup_.size); }
  FillPolicy PolicyOf(const PerfettoCase::Side& side) const {
    return side.policy.value_or(setup_.policy);
  }
  Result<std::unique_ptr<Engine>> MakeEngine(const PerfettoCase::Side& side) const {
    return side.engine->create({.size = SizeOf(side), .policy = PolicyOf(side)});
  }

  void NoteBuffer(uint64_t id) {
    has_other_buffers_ |= buffer_.value_or(id & UINT16_MAX) != (id & UINT16_MAX);
    buffer_ = id & UINT16_MAX;
  }

  Status AddOp(const Op& op) {
    if (const auto* setup = std::get_if<BufferSetUp>(&op.body)) {
      NoteBuffer(Raw(setup->id));
    } else if (const auto* commit = std::get_if<Commit>(&op.body)) {
      AddCommit(*commit);
    } else if (const auto* read = std::get_if<ReadPass>(&op.body)) {
      if (read->buffer) NoteBuffer(Raw(*read->buffer));
      WriteRead(read->max_packets.value_or(UINT64_MAX));
    } else if (const auto* clone = std::get_if<CloneRead>(&op.body)) {
      NoteBuffer(Raw(clone->buffer));
      return WriteClone();
    }
    return {};
  }

  void AddCommit(const Commit& commit) {
    parser_.Parse(commit.request);
    for (const ChunkToMove& chunk : parser_.chunks()) {
      NoteBuffer(chunk.target_buffer.value_or(0));
      const auto moved = ToChunkCommit(commit.producer, chunk);
      if (!moved) continue;
      a_->Commit(*moved);
      b_->Commit(*moved);
      if (!WriteFakeChunk(*moved)) WriteRawCommit(*moved);
    }
    for (const ChunkToPatch& patch : parser_.patches()) {
      NoteBuffer(patch.target_buffer.value_or(0));
      std::vector<Patch> list;
      const ChunkPatches patches = ToChunkPatches(commit.producer, patch, list);
      b_->ApplyPatches(patches);
      WritePatch(patches, a_->ApplyPatches(patches));
    }
  }

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

  void WriteStart() {
    const auto side = [&](const PerfettoCase::Side& of) {
      std::string text = of.engine->name;
      if (of.size || of.policy)
        text += fmt::format(" with a buffer of {} bytes ({})", SizeOf(of), Name(PolicyOf(of)));
      return text;
    };
    const std::string text =
        fmt::format("{}: {}. Expected is what {} gives; {} gives something else.", case_.cause,
                    case_.what, side(case_.a), side(case_.b));
    std::istringstream wrapped(Wrap(Printable(text), size_t{0}, kTextColumns - 3));
    for (std::string line; std::getline(wrapped, line);) Line("// {}", line);
    Line("TEST_F({}, Reproducer_{}) {{", is_v2_ ? "TraceBufferV2Test" : "TraceBufferTest",
         CauseName());
    Line("  ResetBuffer({}{});", SizeOf(case_.a),
         PolicyOf(case_.a) == FillPolicy::kDiscard ? ", TraceBuffer::kDiscard" : "");
    // A debug build checks for chunks that the writers of real traces would not send.
    if (a_->stats().abi_violations + b_->stats().abi_violations > 0)
      Line("  SuppressClientDchecksForTesting();");
    if (has_packets_)
      Line("  {} previous_packet_dropped = {};", is_number() ? "uint32_t" : "bool",
           is_number() ? "0" : "false");
  }

  /// Writes a chunk by the helper for chunks. @return false if the helper cannot make it
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

  void WriteRead(uint64_t max_packets) {
    Line("\n  trace_buffer()->BeginRead();");
    if (WritePackets(*a_, max_packets, "", "  ")) Line("  ASSERT_THAT(ReadPacket(), IsEmpty());");
    b_->BeginRead();
    while (max_packets-- > 0 && b_->NextPacket() != nullptr) continue;
  }

  Status WriteClone() {
    RS_ASSIGN_OR_RETURN(const auto clone, a_->Clone());
    Line("\n  {{\n    std::unique_ptr<TraceBuffer> snap = trace_buffer()->CloneReadOnly();");
    Line("    snap->BeginRead();");
    WritePackets(*clone, UINT64_MAX, "snap, ", "    ");
    Line("    ASSERT_THAT(ReadPacket(snap), IsEmpty());\n  }}");
    return {};
  }

  /// Reads an engine, and writes what it gives. @return whether the read ended without a packet
  bool WritePackets(Engine& engine, uint64_t max_packets, const char* of, const char* indent) {
    engine.BeginRead();
    for (; max_packets > 0; --max_packets) {
      const Packet* const packet = engine.NextPacket();
      if (packet == nullptr) return true;
      has_packets_ = true;
      WritePacket(*packet, of, indent);
      WriteDropped(packet->dropped, indent);
    }
    return false;
  }

  void WritePacket(const Packet& packet, const char* of, const char* indent) {
    std::vector<std::string> slices;
    std::string all;
    bool fits = !packet.slices.empty();
    for (const Bytes bytes : packet.slices) {
      const std::string_view slice = wire::AsText(bytes);
      all += slice;
      fits = fits && !slice.empty() && slice.size() <= kMostFragmentBytes;
      const size_t size = WithSizeVarint(slice.size());
      const char letter = LetterOf(slice);
      slices.push_back(
          letter != 0 && size <= kMostPacketBytes
              ? fmt::format("FakePacketFragment({}, '{}')", size, letter)
              : fmt::format("FakePacketFragment({}, {})", CppLiteral(slice), slice.size()));
    }
    if (fits) {
      Line(
          "{0}ASSERT_THAT(ReadPacket({1}nullptr, &previous_packet_dropped),\n"
          "{0}    ElementsAre({2}));",
          indent, of, fmt::join(slices, fmt::format(",\n{}        ", indent)));
      return;
    }
    // The helper cannot read a packet with empty slices, or large ones.
    Line(
        "{0}{{\n{0}  TracePacket raw;\n"
        "{0}  TraceBuffer::PacketSequenceProperties raw_props;\n"
        "{0}  ASSERT_TRUE({1}->ReadNextTracePacket(&raw, &raw_props, &previous_packet_dropped));\n"
        "{0}  EXPECT_EQ(std::string({2}, {3}), raw.GetRawBytesForTesting());\n{0}}}",
        indent, of[0] != '\0' ? "snap" : "trace_buffer()", CppLiteral(all), all.size());
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
      const uint64_t a = a_->stats().*field.value, b = b_->stats().*field.value;
      if (field.value == &BufferStats::buffer_size || (a == 0 && b == 0)) continue;
      if (field.value == &BufferStats::chunks_relocated && release_ < kFirstReleaseWithRelocated)
        continue;
      Line("  EXPECT_EQ({}u, trace_buffer()->stats().{}());", a, field.name);
    }
  }

  const PerfettoCase& case_;
  const uint32_t release_;
  const bool is_v2_;
  BufferSetUp setup_;
  std::unique_ptr<Engine> a_, b_;
  CommitRequestParser parser_;
  std::optional<uint64_t> buffer_;
  bool has_other_buffers_ = false;
  bool has_packets_ = false;
  std::string text_;
};

}  // namespace

Result<std::string> WritePerfettoCase(const PerfettoCase& test_case) {
  return CaseWriter(test_case).Write();
}

std::string PerfettoCasePath(const std::string& log) {
  for (const std::string_view end : {".ops.jsonl", ".jsonl"})
    if (log.ends_with(end) && log.size() > end.size())
      return log.substr(0, log.size() - end.size()) + ".cc";
  return log + ".cc";
}

}  // namespace ringscope
