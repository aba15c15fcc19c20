#include "core/compare/stream_notation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <sstream>

#include "core/base/wire.h"
#include "core/perfetto/commit_request.h"
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

}  // namespace

StoredOp SetUpOf(uint64_t size, FillPolicy policy) {
  BufferSetUp setup;
  setup.id = kStreamBuffer;
  setup.size = size;
  setup.policy = policy;
  return StoredOp({.time_ns = {}, .body = setup});
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

Status StreamExample::AddChunk(std::string_view word) {
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
  patched_at_[name->Packed()] = payload.size() - std::min<uint64_t>(last_size, kPatchSize);
  Add(step);
  return {};
}

Status StreamExample::AddPatch(std::string_view word) {
  std::string_view rest = word;
  const auto name = TakeName(rest);
  const bool more = TakePrefix(rest, '+');
  if (!name || !rest.empty())
    return CannotRead(fmt::format("patch {}", word), "a chunk after 'patch', like A1 or A1+");
  const auto at = patched_at_.find(name->Packed());
  const Patch patch{.offset = at == patched_at_.end() ? 0 : at->second, .data = kPatchBytes};
  StreamStep step;
  step.kind = StreamStep::Kind::kPatch;
  step.patches = {
      .sequence = name->sequence, .chunk = name->chunk, .patches = {&patch, 1}, .more = more};
  Add(step);
  return {};
}

Result<StreamExample> StreamExample::Parse(std::string_view text) {
  StreamExample example;
  while (!text.empty()) {
    const size_t end = std::min(text.find('|'), text.size());
    std::istringstream stream(std::string(text.substr(0, end)));
    const std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.empty()) continue;
    Step& step = example.steps_.emplace_back();
    step.text = fmt::format("{}", fmt::join(words, " "));
    for (size_t i = 0; i < words.size(); ++i) {
      const std::string next = i + 1 < words.size() ? words[i + 1] : std::string();
      if (words[i] == "read") {
        StreamStep read{.kind = StreamStep::Kind::kRead};
        std::string_view count = next;
        if (const auto packets = TakeNumber(count)) {
          if (!count.empty())
            return CannotRead(next, "nothing after the number of packets that 'read' has");
          read.max_packets = *packets;
          ++i;
        }
        example.Add(read);
      } else if (words[i] == "patch") {
        RS_RETURN_IF_ERROR(example.AddPatch(next));
        ++i;
      } else if (words[i] == "flush") {
        step.operations.push_back(StoredOp({.time_ns = {}, .body = FlushRequested{.flush = 1}}));
      } else if (words[i] == "clone") {
        example.Add({.kind = StreamStep::Kind::kClone});
      } else {
        RS_RETURN_IF_ERROR(example.AddChunk(words[i]));
      }
    }
  }
  if (example.steps_.empty()) return CannotRead("|", "at least one operation");
  return example;
}

std::vector<StoredOp> StreamExample::ToOps(uint64_t size, FillPolicy policy) const {
  std::vector<StoredOp> ops = {SetUpOf(size, policy)};
  for (const Step& step : steps_)
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
  std::string text;
  std::map<uint32_t, char> letters;  // by sequence
  const auto append = [&](std::string_view word) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", word);
  };
  const auto name_of = [&](ChunkName chunk) -> std::optional<std::string> {
    const auto next = static_cast<char>('A' + letters.size());
    const char letter = letters.try_emplace(chunk.sequence.Packed(), next).first->second;
    if (letter > 'Z') return std::nullopt;
    return fmt::format("{}{}", letter, Raw(chunk.chunk));
  };
  const auto add_chunk = [&](const ChunkCommit& commit) {
    const auto name = name_of({commit.sequence, commit.chunk});
    std::string sizes;
    size_t packets = 0, end = 0;
    const auto add_size = [&](std::string_view size, size_t size_end) {
      sizes += fmt::format("{}{}", packets++ == 0 ? ":" : "+", size);
      end = size_end;
    };
    const FragmentStatus status = VisitFragments(
        commit.payload, commit.fragments,
        [&](const Fragment& fragment) { add_size(std::to_string(fragment.size()), fragment.end); });
    if (status == FragmentStatus::kWriterDrop) add_size("x", end + kAbortMarker.size());
    if (packets == 0) sizes = ":-";
    const Bytes padding = commit.payload.subspan(end);
    if (!padding.empty()) sizes += fmt::format("~{}", padding.size());
    if (!name || packets != commit.fragments || (commit.flags & ~kAbiFlags) != 0 ||
        std::ranges::any_of(padding, [](uint8_t byte) { return byte != 0; }))
      return false;
    append(Marked(*name + sizes, commit.flags, commit.complete));
    return true;
  };
  const auto add_patch = [&](ProducerId producer, const ChunkToPatch& patch) {
    const auto name = name_of(patch.NameFor(producer));
    if (!name || patch.patches.size() != 1) return false;
    append(fmt::format("patch {}{}", *name, patch.more ? "+" : ""));
    return true;
  };
  for (const StoredOp& stored : ops) {
    const OpBody& body = stored.op().body;
    if (std::holds_alternative<BufferSetUp>(body)) {
      if (&stored != &ops.front()) return std::nullopt;
    } else if (const auto* read = std::get_if<ReadPass>(&body)) {
      if (read->max_bytes) return std::nullopt;
      append(read->max_packets ? fmt::format("read {} |", *read->max_packets) : "read |");
    } else if (std::holds_alternative<CloneRead>(body)) {
      append("clone |");
    } else if (std::holds_alternative<FlushRequested>(body)) {
      append("flush |");
    } else if (const auto* commit = std::get_if<Commit>(&body)) {
      CommitRequestParser parser;
      if (!parser.Parse(commit->request)) return std::nullopt;
      for (const ChunkToMove& chunk : parser.chunks()) {
        const auto moved = ToChunkCommit(commit->producer, chunk);
        if (!moved || !add_chunk(*moved)) return std::nullopt;
      }
      for (const ChunkToPatch& patch : parser.patches())
        if (!add_patch(commit->producer, patch)) return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
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
