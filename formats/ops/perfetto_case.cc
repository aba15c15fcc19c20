#include "formats/ops/perfetto_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <sstream>

#include "core/base/text.h"
#include "core/perfetto/commit_request.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/fragment.h"

namespace ringscope {
namespace {

// Limits of the helpers of Perfetto's tests.
constexpr size_t kMostPacketBytes = 4096;    // AddPacket, size header included
constexpr size_t kMostFragmentBytes = 4094;  // FakePacketFragment of bytes

/// Since then previous_packet_dropped reports causes, and reads return them as a number.
constexpr uint32_t kFirstReleaseWithCauses = 57;
/// Since then there is the counter chunks_relocated.
constexpr uint32_t kFirstReleaseWithRelocated = 58;

/// A fragment's bytes in a chunk, with its size in front.
size_t WithSizeVarint(size_t bytes) { return bytes + wire::VarintSize(bytes); }

/// Bytes as the helpers of the tests make them: "a00-a01-".
std::string FakeBytes(size_t size, char letter) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) {
    const char of_four[] = {letter, static_cast<char>('0' + i / 40 % 10),
                            static_cast<char>('0' + i / 4 % 10), '-'};
    bytes += of_four[i % 4];
  }
  return bytes;
}
/// The letter of such bytes; 0 for others.
char LetterOf(std::string_view bytes) {
  const bool is_fake = !bytes.empty() && std::isalpha(static_cast<unsigned char>(bytes[0])) != 0 &&
                       WithSizeVarint(bytes.size()) <= kMostPacketBytes &&
                       bytes == FakeBytes(bytes.size(), bytes[0]);
  return is_fake ? bytes[0] : '\0';
}

/// A call chain, in lines of at most 80 columns.
std::string Chain(std::string start, const std::vector<std::string>& calls) {
  size_t column = start.size();
  for (const std::string& call : calls) {
    if (column + call.size() > kTextColumns) {
      start += "\n      ";
      column = 6;
    }
    start += call;
    column += call.size();
  }
  return start;
}

/// ".AddPacket({0x05, 0x61})", 12 bytes a line.
std::string AddBytes(std::string_view bytes) {
  constexpr size_t kInLine = 12;
  std::vector<std::string> lines;
  for (size_t at = 0; at < bytes.size(); at += kInLine)
    lines.push_back(
        fmt::format("{:#04x}", fmt::join(wire::AsBytes(bytes.substr(at, kInLine)), ", ")));
  return fmt::format(".AddPacket({{{}}})", fmt::join(lines, ",\n          "));
}

/// A string literal of any bytes.
std::string CppLiteral(std::string_view bytes) {
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

std::string Ids(SequenceKey sequence, ChunkId chunk) {
  return fmt::format("ProducerID({}), WriterID({}), ChunkID({}{})", Raw(sequence.producer),
                     Raw(sequence.writer), Raw(chunk), UnsignedSuffix(Raw(chunk)));
}

std::string FlagNames(uint8_t flags) {
  std::vector<std::string> names;
  if ((flags & kFirstContinues) != 0) names.emplace_back("kContFromPrevChunk");
  if ((flags & kLastContinues) != 0) names.emplace_back("kContOnNextChunk");
  if ((flags & kNeedsPatching) != 0) names.emplace_back("kChunkNeedsPatching");
  if ((flags & ~kAbiFlags) != 0) names.push_back(std::to_string(flags & ~kAbiFlags));
  return fmt::format("{}", fmt::join(names, " | "));
}

/// Puts records through an engine, and writes the calls and what the engine gives.
class BodyWriter {
 public:
  /// @param test engine whose tests the text is for
  /// @param has_letters packets get the bytes that the helpers make
  BodyWriter(std::unique_ptr<Engine> engine, const EngineInfo& test, bool has_letters)
      : engine_(std::move(engine)), release_(test.release), has_letters_(has_letters) {}

  Status Add(const Op& op) {
    if (const auto* commit = std::get_if<Commit>(&op.body)) {
      AddCommit(*commit);
    } else if (const auto* read = std::get_if<ReadPass>(&op.body)) {
      Line("\n  trace_buffer()->BeginRead();");
      if (AddPackets(*engine_, read->max_packets.value_or(UINT64_MAX), "", "  "))
        Line("  ASSERT_THAT(ReadPacket(), IsEmpty());");
    } else if (std::holds_alternative<CloneRead>(op.body)) {
      RS_ASSIGN_OR_RETURN(const auto clone, engine_->Clone());
      Line("\n  {{\n    std::unique_ptr<TraceBuffer> snap = trace_buffer()->CloneReadOnly();");
      Line("    snap->BeginRead();");
      AddPackets(*clone, UINT64_MAX, "snap, ", "    ");
      Line("    ASSERT_THAT(ReadPacket(snap), IsEmpty());\n  }}");
    }
    if (engine_->failure() != nullptr) return tl::unexpected<Error>(*engine_->failure());
    if (!has_words_)
      return Fail(ErrorCode::kUnsupported, "a chunk has bytes that none of its packets counts");
    return {};
  }

  const std::string& text() const { return text_; }
  bool has_packets() const { return has_packets_; }
  const BufferStats& stats() const { return engine_->stats(); }
  /// Returns true if reads return loss bits as a number.
  bool is_number() const { return release_ >= kFirstReleaseWithCauses; }

 private:
  template <typename... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  void AddCommit(const Commit& commit) {
    CommitRequestParser parser;
    parser.Parse(commit.request);
    for (const ChunkToMove& chunk : parser.chunks()) {
      auto moved = ToChunkCommit(commit.producer, chunk);
      if (!moved) continue;
      std::string payload(wire::AsText(moved->payload));
      std::vector<Fragment> fragments;
      VisitFragments(moved->payload, moved->fragments,
                     [&](const Fragment& fragment) { fragments.push_back(fragment); });
      for (size_t i = 0; has_letters_ && i < fragments.size(); ++i) {
        // A chunk that is committed again has the same packets.
        const auto place = std::pair(ChunkName{moved->sequence, moved->chunk}.Packed(), i);
        const auto next = static_cast<char>('a' + letters_.size() % 26);
        payload.replace(
            fragments[i].body, fragments[i].size(),
            FakeBytes(fragments[i].size(), letters_.try_emplace(place, next).first->second));
      }
      moved->payload = wire::AsBytes(payload);
      engine_->Commit(*moved);
      WriteCommit(*moved, fragments);
      payloads_[{moved->sequence, moved->chunk}] = std::move(payload);
    }
    for (const ChunkToPatch& patch : parser.patches()) {
      std::vector<Patch> list;
      const ChunkPatches patches = ToChunkPatches(commit.producer, patch, list);
      // Patches have the bytes that are there, so that the packets are the helpers' ones.
      const std::string& payload = payloads_[{patches.sequence, patches.chunk}];
      for (Patch& each : list)
        if (has_letters_ && each.offset + kPatchSize <= payload.size())
          each.data = wire::AsBytes(payload).data() + each.offset;
      WritePatch(patches, engine_->ApplyPatches(patches));
    }
  }

  void WriteCommit(const ChunkCommit& commit, const std::vector<Fragment>& fragments) {
    const std::string_view payload = wire::AsText(commit.payload);
    std::vector<std::string> calls;
    for (const Fragment& fragment : fragments) {
      const size_t size = fragment.size_with_header();
      const char letter = LetterOf(payload.substr(fragment.body, fragment.size()));
      calls.push_back(letter != 0 && size == WithSizeVarint(fragment.size())
                          ? fmt::format(".AddPacket({}, '{}')", size, letter)
                          : AddBytes(payload.substr(fragment.offset, size)));
    }
    const std::string_view rest = payload.substr(fragments.empty() ? 0 : fragments.back().end);
    const bool is_padding = rest.find_first_not_of('\0') == std::string_view::npos;
    if (!is_padding) calls.push_back(AddBytes(rest));
    if (calls.size() > commit.fragments) has_words_ = false;
    for (size_t i = calls.size(); i < commit.fragments; ++i)
      calls.push_back(".IncrementNumPackets()");
    if (commit.flags != 0) calls.push_back(fmt::format(".SetFlags({})", FlagNames(commit.flags)));
    if (is_padding && !rest.empty())
      calls.push_back(fmt::format(".PadTo({})", kStoredHeaderSize + payload.size()));
    calls.push_back(fmt::format(".CopyIntoTraceBuffer({});",
                                commit.complete ? "" : "/*chunk_complete=*/false"));
    Line("{}", Chain(fmt::format("  CreateChunk({})", Ids(commit.sequence, commit.chunk)), calls));
  }

  void WritePatch(const ChunkPatches& patches, bool applied) {
    std::vector<std::string> list;
    for (const Patch& patch : patches.patches) {
      std::vector<std::string> chars;
      for (const uint8_t code : Bytes(patch.data, kPatchSize))
        chars.push_back(std::isalnum(code) != 0 ? fmt::format("'{}'", static_cast<char>(code))
                                                : fmt::format("0x{:02x}", code));
      list.push_back(fmt::format("{{{}{}, {{{{{}}}}}}}", patch.offset, UnsignedSuffix(patch.offset),
                                 fmt::join(chars, ", ")));
    }
    Line("  ASSERT_{}(TryPatchChunkContents(\n      {},\n      {{{}}}{}));",
         applied ? "TRUE" : "FALSE", Ids(patches.sequence, patches.chunk), fmt::join(list, ", "),
         patches.more ? ", /*other_patches_pending=*/true" : "");
  }

  /// Reads an engine, and writes what it gives. @return whether the read ended without a packet
  bool AddPackets(Engine& engine, uint64_t max_packets, const char* of, const char* indent) {
    engine.BeginRead();
    for (; max_packets > 0; --max_packets) {
      const Packet* const packet = engine.NextPacket();
      if (packet == nullptr) return true;
      has_packets_ = true;
      WritePacket(*packet, of, indent);
      if (is_number())
        Line("{}EXPECT_EQ({}u, previous_packet_dropped);{}", indent, packet->dropped,
             packet->dropped == 0 ? "" : "  // " + LossBitsToString(packet->dropped));
      else
        Line("{}EXPECT_{}(previous_packet_dropped);", indent,
             packet->dropped != 0 ? "TRUE" : "FALSE");
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
      const char letter = LetterOf(slice);
      slices.push_back(
          letter != 0
              ? fmt::format("FakePacketFragment({}, '{}')", WithSizeVarint(slice.size()), letter)
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

  std::unique_ptr<Engine> engine_;
  uint32_t release_;
  bool has_letters_;
  bool has_packets_ = false;
  bool has_words_ = true;                                // the helpers can make all chunks
  std::map<std::pair<uint64_t, size_t>, char> letters_;  // of packets
  std::unordered_map<ChunkName, std::string> payloads_;  // as they were committed
  std::string text_;
};

/// The test up to the first operation.
std::string StartOf(const PerfettoCase& test_case, const Both<BodyWriter*>& bodies) {
  const Both<BufferSetUp> buffers = {test_case.BufferOf(Side::kA), test_case.BufferOf(Side::kB)};
  const auto name = [&](Side side) {
    const BufferSetUp& buffer = buffers[side];
    const std::string& engine = test_case.sides[side].engine->name;
    if (buffers.a.size == buffers.b.size && buffers.a.policy == buffers.b.policy) return engine;
    return fmt::format("{} with a buffer of {} bytes ({})", engine, buffer.size,
                       Name(buffer.policy));
  };
  std::string text;
  std::istringstream wrapped(
      Wrap(Printable(fmt::format("{}: {}. Expected is what {} gives{}.", test_case.cause,
                                 test_case.what, name(Side::kA),
                                 test_case.sides.a == test_case.sides.b
                                     ? ""
                                     : "; " + name(Side::kB) + " gives something else")),
           size_t{0}, kTextColumns - 3));
  for (std::string line; std::getline(wrapped, line);) text += fmt::format("// {}\n", line);
  std::string cause = test_case.cause;
  for (char& c : cause)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  text += fmt::format(
      "TEST_F({}, Reproducer_{}) {{\n  ResetBuffer({}{});\n",
      test_case.sides.a.engine->name == "v1" ? "TraceBufferTest" : "TraceBufferV2Test", cause,
      buffers.a.size, buffers.a.policy == FillPolicy::kDiscard ? ", TraceBuffer::kDiscard" : "");
  // A debug build checks for chunks that the writers of real traces would not send.
  if (bodies.a->stats().abi_violations + bodies.b->stats().abi_violations > 0)
    text += "  SuppressClientDchecksForTesting();\n";
  if (bodies.a->has_packets())
    text += bodies.a->is_number() ? "  uint32_t previous_packet_dropped = 0;\n"
                                  : "  bool previous_packet_dropped = false;\n";
  return text;
}

}  // namespace

BufferSetUp PerfettoCase::BufferOf(ringscope::Side side) const {
  BufferSetUp buffer;
  for (const StoredOp& op : ops)
    if (const auto* found = std::get_if<BufferSetUp>(&op.op().body)) buffer = *found;
  buffer.size = sides[side].size.value_or(buffer.size);
  buffer.policy = sides[side].policy.value_or(buffer.policy);
  return buffer;
}

Result<std::string> WritePerfettoCase(const PerfettoCase& test_case) {
  std::set<BufferId> ids;
  for (const StoredOp& op : test_case.ops)
    if (const auto* found = std::get_if<BufferSetUp>(&op.op().body)) ids.insert(found->id);
  if (ids.size() > 1)
    return Fail(ErrorCode::kUnsupported, "the records are of several buffers, a test is of one");
  const EngineInfo& test = *test_case.sides.a.engine;
  // With the helpers' bytes the test is short, but a difference may need those that are there.
  for (const bool has_letters : {true, false}) {
    Both<std::unique_ptr<BodyWriter>> bodies;
    for (const Side side : kSides) {
      const BufferSetUp buffer = test_case.BufferOf(side);
      RS_ASSIGN_OR_RETURN(auto engine, test_case.sides[side].engine->create(
                                           {.size = buffer.size, .policy = buffer.policy}));
      bodies[side] = std::make_unique<BodyWriter>(std::move(engine), test, has_letters);
      for (const StoredOp& op : test_case.ops) RS_RETURN_IF_ERROR(bodies[side]->Add(op.op()));
      RS_RETURN_IF_ERROR(bodies[side]->Add({.time_ns = {}, .body = ReadPass()}));
    }
    const auto& [a, b] = bodies;
    std::string counters;
    for (const StatField& field : kStatFields) {
      if (a->stats().*field.value == b->stats().*field.value ||
          field.value == &BufferStats::buffer_size ||
          (field.value == &BufferStats::chunks_relocated &&
           test.release < kFirstReleaseWithRelocated))
        continue;
      counters += fmt::format("{}  EXPECT_EQ({}u, trace_buffer()->stats().{}());\n",
                              counters.empty() ? "\n" : "", a->stats().*field.value, field.name);
    }
    if (a->text() != b->text() || !counters.empty() || test_case.sides.a == test_case.sides.b)
      return StartOf(test_case, {a.get(), b.get()}) + a->text() + counters + "}\n";
  }
  return Fail(ErrorCode::kUnsupported,
              fmt::format("a test of {}'s buffer cannot show the difference", test.name));
}

std::string PerfettoCasePath(const std::string& log) {
  for (const std::string_view end : {".ops.jsonl", ".jsonl"})
    if (log.ends_with(end) && log.size() > end.size())
      return log.substr(0, log.size() - end.size()) + ".cc";
  return log + ".cc";
}

}  // namespace ringscope
