#include "commands/log/dump_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "commands/replays/record_text.h"
#include "commands/log/story_words.h"
#include "commands/shell/text.h"
#include "core/base/wire.h"
#include "formats/descriptors/descriptors.h"

namespace ringscope {
namespace {

constexpr size_t kBytesOnALine = 16;
/// Different fields of a fragment that are named.
constexpr size_t kFieldsNamed = 12;

/// "timestamp, 2 x interned_data, track_event (continues)"
/// @param lacks_sizes patches will bring sizes of messages in it; what is there until then is
/// chance, as writers do not clear it
std::string FieldsText(Bytes message, bool is_whole, bool lacks_sizes,
                       const Descriptors& descriptors) {
  std::vector<uint32_t> order;
  std::map<uint32_t, uint64_t> counts;
  wire::FieldReader fields(message);
  size_t read = 0;  // bytes
  bool is_unknown = false;
  while (const auto field = fields.Next()) {
    if (++counts[field->number] == 1) order.push_back(field->number);
    read += field->whole.size();
    is_unknown = lacks_sizes && field->type == wire::Type::kBytes;
    if (is_unknown) break;
  }
  const auto name = [&](uint32_t number) {
    const std::string known = descriptors.FieldName("TracePacket", number);
    return known.empty() ? fmt::format("field {}", number) : known;
  };
  std::vector<std::string> names;
  for (const uint32_t number : order) {
    if (names.size() == kFieldsNamed) {
      names.push_back(fmt::format("and {} more", order.size() - kFieldsNamed));
      break;
    }
    names.push_back(counts[number] == 1 ? name(number)
                                        : fmt::format("{} x {}", counts[number], name(number)));
  }
  if (is_unknown) {
    names.emplace_back("and what its size, which may be patched, leaves");
  } else if (!fields.ok() && is_whole) {
    names.push_back("then malformed bytes");
  } else if (!fields.ok()) {
    const wire::Varint tag = wire::ReadVarint(message.subspan(read));
    const uint64_t number = tag.size == 0 ? 0 : tag.value >> 3;
    names.push_back(number == 0 || number > UINT32_MAX
                        ? std::string("then a field that continues")
                        : name(static_cast<uint32_t>(number)) + " (continues)");
  }
  return Joined(names);
}

/// What follows the last fragment.
void AddRest(const WrittenChunk& written, std::vector<std::string>& lines) {
  if (written.end == ChunkEnd::kAborted)
    lines.push_back(
        fmt::format("at {}: the marker of a packet that its writer aborted", written.bytes));
  else if (written.end == ChunkEnd::kBroken)
    lines.push_back(fmt::format("at {}: {} that are not a fragment", written.bytes,
                                Count(written.broken_bytes, "byte")));
  else if (written.unfinished_bytes > 0)
    lines.push_back(fmt::format("at {}: {} of a fragment that may still grow", written.bytes,
                                Count(written.unfinished_bytes, "byte")));
}

std::string BufferText(const std::optional<uint64_t>& buffer) {
  return buffer ? fmt::format("buffer {}", *buffer) : std::string("no buffer");
}

/// What a number of the record means, after its line.
std::string DecodedSuffix(const OpBody& body) {
  const auto* const flush = std::get_if<FlushRequested>(&body);
  if (flush == nullptr) return {};
  const std::string reason = FlushReasonText(flush->flags);
  return reason.empty() ? reason : fmt::format(" ({})", reason);
}

}  // namespace

std::string_view FragmentNote(FragmentKind kind) {
  switch (kind) {
    case FragmentKind::kBegin:
      return "of a packet that continues in the next chunk";
    case FragmentKind::kContinue:
      return "of a packet that began before and continues in the next chunk";
    case FragmentKind::kEnd:
      return "of a packet that began in a chunk before";
    case FragmentKind::kWhole:
      break;
  }
  return "";
}

std::vector<std::string> HexLines(Bytes bytes) {
  std::vector<std::string> lines;
  for (size_t offset = 0; offset < bytes.size(); offset += kBytesOnALine) {
    const Bytes row = bytes.subspan(offset, std::min(kBytesOnALine, bytes.size() - offset));
    std::string hex, characters;
    for (size_t i = 0; i < row.size(); ++i) {
      hex += fmt::format("{}{:02x}", i == kBytesOnALine / 2 ? "  " : i == 0 ? "" : " ", row[i]);
      characters += row[i] >= 0x20 && row[i] < 0x7F ? static_cast<char>(row[i]) : '.';
    }
    lines.push_back(fmt::format("{:04x}  {:<{}}  {}", offset, hex, 3 * kBytesOnALine, characters));
  }
  return lines;
}

std::vector<std::string> FragmentLines(const ChunkCommit& commit, const WrittenChunk& written,
                                       const Descriptors& descriptors) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < written.fragments.size(); ++i) {
    const WrittenFragment& fragment = written.fragments[i];
    const std::optional<Bytes> body = BodyAt(commit.payload, fragment.offset);
    if (!body) break;
    std::string text =
        fmt::format("fragment {} at {}: {}", i, fragment.offset, Count(fragment.size, "byte"));
    const bool is_whole = fragment.kind == FragmentKind::kWhole;
    if (is_whole && fragment.size == 0)
      text += ", empty";
    else
      text += is_whole ? std::string(", a whole packet")
                       : fmt::format(" {}", FragmentNote(fragment.kind));
    if (fragment.size > 0 && (is_whole || fragment.kind == FragmentKind::kBegin))
      text += ": " + FieldsText(*body, is_whole, !is_whole && (commit.flags & kNeedsPatching) != 0,
                                descriptors);
    lines.push_back(std::move(text));
  }
  AddRest(written, lines);
  return lines;
}

std::string RecordText::DecodedText(const OpBody& body) const {
  if (const auto* const config = std::get_if<TraceConfigRecord>(&body))
    return descriptors_.Text("TraceConfig", wire::AsBytes(config->config));
  if (const auto* const source = std::get_if<DataSourceSetUp>(&body))
    return descriptors_.Text("DataSourceConfig", wire::AsBytes(source->config));
  if (const auto* const clone = std::get_if<CloneRequested>(&body))
    return descriptors_.Text("CloneSessionRequest", wire::AsBytes(clone->request));
  return {};
}

void RecordText::AddContent(ProducerId producer, const ChunkToMove& chunk) {
  if (!chunk.data) return;
  if (detail_.hex)
    for (const std::string& line : HexLines(*chunk.data)) Block(line);
  if (!detail_.fragments && !detail_.decode) return;
  const std::optional<ChunkCommit> commit = ToChunkCommit(producer, chunk);
  if (!commit) return;
  ReadWrittenChunk(*commit, written_);
  if (detail_.fragments)
    for (const std::string& line : FragmentLines(*commit, written_, descriptors_)) Block(line);
  if (detail_.decode) AddPackets(*commit);
}

void RecordText::AddPackets(const ChunkCommit& commit) {
  for (size_t i = 0; i < written_.fragments.size(); ++i) {
    const WrittenFragment& fragment = written_.fragments[i];
    const std::optional<Bytes> body = BodyAt(commit.payload, fragment.offset);
    if (!body) break;
    if (fragment.kind != FragmentKind::kWhole) {
      Block(fmt::format("# fragment {}: {} {}\n", i, Count(fragment.size, "byte"),
                        FragmentNote(fragment.kind)));
      continue;
    }
    Block(fmt::format("packet {{  # fragment {}: {}\n", i, Count(fragment.size, "byte")));
    margin_ += "  ";
    Block(descriptors_.Text("TracePacket", *body));
    margin_.resize(margin_.size() - 2);
    Block("}\n");
  }
}

void RecordText::Block(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines_.push_back(fmt::format("{}  {}", margin_, text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void RecordText::Line(std::string_view kind, const std::string& what) {
  lines_.push_back(fmt::format("{}{:<12} {}", margin_, kind, what));
  margin_.assign(margin_.size(), ' ');
}

void RecordText::Observe(const Op& op) {
  clock_.AddRecord(op);
  if (const auto* producer = std::get_if<ProducerConnected>(&op.body))
    identities_[producer->producer] = {producer->uid, producer->pid};
}

const std::vector<std::string>& RecordText::Format(const Op& op, uint64_t number) {
  lines_.clear();
  std::string time = "-";
  if (op.time_ns && clock_.base() != TimeBase::kSession) {
    time = clock_.Text(*op.time_ns);
  } else if (op.time_ns) {
    const uint64_t start = filter_.start_ns().value_or(*op.time_ns);
    const bool before = *op.time_ns < start;  // times need not be in order
    const uint64_t ns = before ? start - *op.time_ns : *op.time_ns - start;
    time = fmt::format("{}{}.{:09}", before ? "-" : "", ns / 1'000'000'000, ns % 1'000'000'000);
  }
  margin_ = fmt::format("{:>7}  {:>14}  ", number, time);
  if (const auto* commit = std::get_if<Commit>(&op.body)) {
    FormatCommit(*commit);
  } else {
    Line(OpKindName(op.body.index()), DescribeRecord(op.body) + DecodedSuffix(op.body));
    Block(DecodedText(op.body));
  }
  return lines_;
}

/// What concerns a commit as a whole, after its first line.
std::string RecordText::CommitSuffix(const Commit& commit) {
  std::string text;
  if (commit.origin != Origin::kImported) text += fmt::format(" [{}]", Name(commit.origin));
  const auto known = identities_.find(commit.producer);
  const Identity* const identity = known == identities_.end() ? nullptr : &known->second;
  if (commit.uid && (identity == nullptr || identity->uid != *commit.uid))
    text += fmt::format(" uid {}", *commit.uid);
  if (commit.pid && (identity == nullptr || identity->pid != *commit.pid))
    text += fmt::format(" pid {}", *commit.pid);
  if (commit.part > 0 || !commit.last)
    text += fmt::format(" (part {} of request {}{})", commit.part, commit.number,
                        commit.last ? ", the last" : "");
  return text;
}

void RecordText::FormatCommit(const Commit& commit) {
  const bool well_formed = parser_.Parse(commit.request);
  std::string suffix = CommitSuffix(commit);
  const auto line = [&](const char* kind, const std::string& what) {
    Line(kind, what + suffix);
    suffix.clear();
  };
  for (const ChunkToMove& chunk : parser_.chunks()) {
    if (!filter_.KeepsChunk(commit.producer, chunk)) continue;
    const auto header = chunk.header();
    const std::string name =
        header ? fmt::format("{} chunk {}", ToString(SequenceKey{commit.producer, header->writer}),
                             Raw(header->chunk))
               : fmt::format("producer {}", Raw(commit.producer));
    // Without its bytes the chunk is described by its place.
    const std::string place =
        chunk.page && chunk.data
            ? fmt::format(", page {} index {}", *chunk.page, chunk.index.value_or(0))
            : "";
    line("commit", fmt::format("{} to {}: {}{}", name, BufferText(chunk.target_buffer),
                               DescribeChunk(chunk), place));
    AddContent(commit.producer, chunk);
  }
  for (const ChunkToPatch& patch : parser_.patches()) {
    if (!filter_.KeepsPatch(commit.producer, patch)) continue;
    line("patch", fmt::format("{}:{} chunk {} in {}: {}", Raw(commit.producer),
                              patch.writer.value_or(0), patch.chunk.value_or(0),
                              BufferText(patch.target_buffer), DescribePatches(patch)));
  }
  if (parser_.flush_request_id())
    line("commit", fmt::format("producer {}: completes flush {}", Raw(commit.producer),
                               *parser_.flush_request_id()));
  if (!well_formed) {
    line("commit", fmt::format("producer {}: malformed request of {}", Raw(commit.producer),
                               Count(commit.request.size(), "byte")));
  } else if (lines_.empty()) {
    line("commit", fmt::format("producer {}: empty request", Raw(commit.producer)));
  }
}

}  // namespace ringscope
