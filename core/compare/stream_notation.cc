#include "core/compare/stream_notation.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <sstream>

#include "core/base/text.h"
#include "core/perfetto/fragment.h"

namespace ringscope {
namespace {

constexpr uint32_t kDefaultPacketBytes = 494;  // with header and size a chunk of 512 bytes
constexpr uint32_t kMostPayloadBytes = 65535;
constexpr ProducerId kExampleProducer{1};
constexpr uint8_t kPatchBytes[kPatchSize] = {'P', 'T', 'C', 'H'};

/// A chunk with its marks: ">A2:8ps". @param name and sizes of packets
std::string Marked(std::string_view name, uint8_t flags, bool complete) {
  return fmt::format("{}{}{}{}{}", (flags & kFirstContinues) != 0 ? ">" : "", name,
                     (flags & kLastContinues) != 0 ? ">" : "",
                     (flags & kNeedsPatching) != 0 ? "p" : "", complete ? "" : "s");
}

tl::unexpected<Error> CannotRead(std::string_view word, const char* expected) {
  return Fail(ErrorCode::kUsage, fmt::format("cannot read '{}': expected {}", word, expected), {},
              "an example: 'A1 B1:100+20 >A2 | read 2 | patch A2 | read'");
}

/// Takes a number off the front of a text.
std::optional<uint32_t> TakeNumber(std::string_view& text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

bool TakePrefix(std::string_view& text, char prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(1);
  return true;
}

/// Takes "A12" off the front of a text.
std::optional<ChunkName> TakeName(std::string_view& text) {
  if (text.empty() || text.front() < 'A' || text.front() > 'Z') return std::nullopt;
  const auto writer = static_cast<uint16_t>(text.front() - 'A' + 1);
  text.remove_prefix(1);
  const auto id = TakeNumber(text);
  if (!id) return std::nullopt;
  return ChunkName{{kExampleProducer, WriterId{writer}}, ChunkId{*id}};
}

/// Offsets of the bytes that a patch of a chunk replaces, by the chunk's packed name.
using PatchedAt = std::map<uint64_t, uint64_t>;

Result<StoredOp> ReadChunk(std::string_view word, PatchedAt& patched_at) {
  std::string_view rest = word;
  StreamStep step;
  ChunkCommit& commit = step.commit;
  if (TakePrefix(rest, '>')) commit.flags |= kFirstContinues;
  const auto name = TakeName(rest);
  if (!name)
    return CannotRead(word,
                      "a chunk (a letter and a number), 'patch', 'read', 'clone', 'flush' or '|'");
  commit.sequence = name->sequence;
  commit.chunk = name->chunk;
  std::string payload;
  uint64_t last_size = 0;
  const auto add_packet = [&](uint32_t size) {
    wire::AppendVarint(payload, size);
    payload += ExampleBytes(size, *name, commit.fragments++);
    last_size = size;
  };
  if (rest.starts_with(":-")) {
    rest.remove_prefix(2);
  } else if (TakePrefix(rest, ':')) {
    do {
      if (TakePrefix(rest, 'x')) {
        payload += kAbortMarker;
        ++commit.fragments;
        break;
      }
      const auto size = TakeNumber(rest);
      if (!size || *size > kMostPayloadBytes)
        return CannotRead(word, "bytes of a packet after ':' and '+', at most 65535, x or -");
      add_packet(*size);
    } while (TakePrefix(rest, '+'));
  } else {
    add_packet(kDefaultPacketBytes);
  }
  if (TakePrefix(rest, '~')) {
    const auto padding = TakeNumber(rest);
    if (!padding) return CannotRead(word, "bytes of padding after '~'");
    payload.resize(payload.size() + std::min(*padding, kMostPayloadBytes + 1));
  }
  if (payload.size() > kMostPayloadBytes)
    return CannotRead(word, "a chunk of at most 65535 bytes, sizes of packets included");
  for (const char mark : rest) {
    if (mark != '>' && mark != 'p' && mark != 's')
      return CannotRead(word, "one of the marks '>', 'p' and 's' at the end");
    if (mark == '>') commit.flags |= kLastContinues;
    if (mark == 'p') commit.flags |= kNeedsPatching;
    if (mark == 's') commit.complete = false;
  }
  commit.payload = wire::AsBytes(payload);
  patched_at[name->Packed()] = payload.size() - std::min<uint64_t>(last_size, kPatchSize);
  return OpOf(step);
}

Result<StoredOp> ReadPatch(std::string_view word, PatchedAt& patched_at) {
  std::string_view rest = word;
  const auto name = TakeName(rest);
  const bool more = TakePrefix(rest, '+');
  if (!name || !rest.empty())
    return CannotRead(fmt::format("patch {}", word), "a chunk after 'patch', like A1 or A1+");
  const Patch patch{.offset = patched_at[name->Packed()], .data = kPatchBytes};
  return OpOf({.kind = StreamStep::Kind::kPatch,
               .commit = {},
               .patches = {.sequence = name->sequence,
                           .chunk = name->chunk,
                           .patches = {&patch, 1},
                           .more = more}});
}

}  // namespace

StoredOp SetUpOf(uint64_t size, FillPolicy policy) {
  return StoredOp(
      {.time_ns = {},
       .body = BufferSetUp{
           .id = kStreamBuffer, .index = {}, .size = size, .policy = policy, .engine = {}}});
}

StoredOp OpOf(const StreamStep& step) {
  if (step.kind == StreamStep::Kind::kClone)
    return StoredOp({.time_ns = {}, .body = CloneRead{kStreamBuffer}});
  if (step.kind == StreamStep::Kind::kRead) {
    ReadPass read{.buffer = kStreamBuffer, .max_packets = {}, .max_bytes = {}};
    if (step.max_packets != UINT64_MAX) read.max_packets = step.max_packets;
    return StoredOp({.time_ns = {}, .body = read});
  }
  std::string request;
  CommitRequestBuilder builder(request);
  Commit commit;
  if (step.kind == StreamStep::Kind::kCommit) {
    const ChunkCommit& chunk = step.commit;
    builder.AddChunk(kStreamBuffer,
                     {.chunk = chunk.chunk,
                      .writer = chunk.sequence.writer,
                      .fragments = chunk.fragments,
                      .flags = chunk.flags},
                     chunk.payload, chunk.complete);
    commit.producer = chunk.sequence.producer;
    commit.uid = chunk.identity.uid;
    commit.pid = chunk.identity.pid;
  } else {
    ChunkToPatch patches{.target_buffer = Raw(kStreamBuffer),
                         .writer = Raw(step.patches.sequence.writer),
                         .chunk = Raw(step.patches.chunk),
                         .patches = {},
                         .more = step.patches.more};
    for (const Patch& patch : step.patches.patches)
      patches.patches.push_back({.offset = patch.offset, .data = Bytes(patch.data, kPatchSize)});
    builder.AddPatch(patches);
    commit.producer = step.patches.sequence.producer;
  }
  return StoredOp({.time_ns = {}, .body = commit}, std::move(request));
}

Result<std::vector<ExampleStep>> ParseExample(std::string_view text) {
  std::vector<ExampleStep> steps;
  PatchedAt patched_at;
  while (!text.empty()) {
    const size_t end = std::min(text.find('|'), text.size());
    std::istringstream stream(std::string(text.substr(0, end)));
    const std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.empty()) continue;
    std::vector<StoredOp> operations;
    for (size_t i = 0; i < words.size(); ++i) {
      const std::string next = i + 1 < words.size() ? words[i + 1] : "";
      if (words[i] == "read") {
        StreamStep read{.kind = StreamStep::Kind::kRead};
        std::string_view count = next;
        if (const auto packets = TakeNumber(count)) {
          if (!count.empty())
            return CannotRead(next, "nothing after the number of packets that 'read' has");
          read.max_packets = *packets;
          ++i;
        }
        operations.push_back(OpOf(read));
      } else if (words[i] == "flush") {
        operations.push_back(StoredOp({.time_ns = {}, .body = FlushRequested{.flush = 1}}));
      } else if (words[i] == "clone") {
        operations.push_back(OpOf({.kind = StreamStep::Kind::kClone}));
      } else {
        const bool is_patch = words[i] == "patch";
        if (is_patch) ++i;
        RS_ASSIGN_OR_RETURN(
            StoredOp op, is_patch ? ReadPatch(next, patched_at) : ReadChunk(words[i], patched_at));
        operations.push_back(std::move(op));
      }
    }
    steps.push_back({Joined(words, " "), std::move(operations)});
  }
  if (steps.empty()) return CannotRead("|", "at least one operation");
  return steps;
}

std::vector<StoredOp> ToOps(const std::vector<ExampleStep>& steps, uint64_t size,
                            FillPolicy policy) {
  std::vector<StoredOp> ops = {SetUpOf(size, policy)};
  for (const ExampleStep& step : steps)
    ops.insert(ops.end(), step.operations.begin(), step.operations.end());
  return ops;
}

std::string ExampleBytes(size_t size, const ChunkName& chunk, size_t fragment) {
  // A field of a number below 128.
  const uint64_t number =
      Raw(chunk.sequence.writer) * 31 + uint64_t{Raw(chunk.chunk)} * 7 + fragment;
  std::string bytes(size, '@');
  for (size_t i = 1; i < size; i += 2) bytes[i] = static_cast<char>(1 + number % 127);
  return bytes;
}

std::optional<std::string> InNotation(const std::vector<StoredOp>& ops) {
  std::vector<std::string> words;
  std::map<SequenceKey, char> letters;
  bool can_say = true;
  const auto name_of = [&](ChunkName chunk) {
    const auto next = static_cast<char>('A' + letters.size());
    const char letter = letters.try_emplace(chunk.sequence, next).first->second;
    can_say &= letter <= 'Z';
    return fmt::format("{}{}", letter, Raw(chunk.chunk));
  };
  const auto add_chunk = [&](const ChunkCommit& commit) {
    std::vector<std::string> sizes;
    size_t end = 0;
    const FragmentStatus status =
        VisitFragments(commit.payload, commit.fragments, [&](const Fragment& fragment) {
          sizes.push_back(std::to_string(fragment.size()));
          end = fragment.end;
        });
    if (status == FragmentStatus::kWriterDrop) {
      sizes.emplace_back("x");
      end += kAbortMarker.size();
    }
    const Bytes padding = commit.payload.subspan(end);
    can_say &= sizes.size() == commit.fragments && (commit.flags & ~kAbiFlags) == 0 &&
               std::ranges::all_of(padding, [](uint8_t byte) { return byte == 0; });
    const std::string name = fmt::format("{}:{}{}", name_of({commit.sequence, commit.chunk}),
                                         sizes.empty() ? "-" : Joined(sizes, "+"),
                                         padding.empty() ? "" : fmt::format("~{}", padding.size()));
    words.push_back(Marked(name, commit.flags, commit.complete));
  };
  const auto add_commit = [&](const Commit& commit) {
    CommitRequestParser parser;
    can_say &= parser.Parse(commit.request);
    for (const ChunkToMove& chunk : parser.chunks()) {
      const auto moved = ToChunkCommit(commit.producer, chunk);
      can_say &= moved.has_value();
      if (moved) add_chunk(*moved);
    }
    for (const ChunkToPatch& patch : parser.patches()) {
      can_say &= patch.patches.size() == 1;
      words.push_back(fmt::format("patch {}{}", name_of(patch.NameFor(commit.producer)),
                                  patch.more ? "+" : ""));
    }
  };
  for (const StoredOp& stored : ops) {
    std::visit(Overloaded{[&](const BufferSetUp&) { can_say &= &stored == &ops.front(); },
                          [&](const ReadPass& read) {
                            can_say &= !read.max_bytes;
                            words.push_back(read.max_packets
                                                ? fmt::format("read {} |", *read.max_packets)
                                                : "read |");
                          },
                          [&](const CloneRead&) { words.emplace_back("clone |"); },
                          [&](const FlushRequested&) { words.emplace_back("flush |"); }, add_commit,
                          [&](const auto&) { can_say = false; }},
               stored.op().body);
    if (!can_say) return std::nullopt;
  }
  std::string text = Joined(words, " ");
  if (text.ends_with(" |")) text.resize(text.size() - 2);
  return text;
}

std::string WriterName(SequenceKey sequence) {
  const uint16_t writer = Raw(sequence.writer);
  if (sequence.producer == kExampleProducer && writer >= 1 && writer <= 26)
    return std::string(1, static_cast<char>('A' + writer - 1));
  return fmt::format("{}:{}#", Raw(sequence.producer), writer);
}

std::string ChunkText(SequenceKey sequence, ChunkId chunk, uint8_t flags, bool complete) {
  return Marked(fmt::format("{}{}", WriterName(sequence), Raw(chunk)), flags, complete);
}

}  // namespace ringscope
