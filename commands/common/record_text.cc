#include "commands/common/record_text.h"

#include <fmt/format.h>

#include "commands/shell/text.h"
#include "core/base/wire.h"

namespace ringscope {
namespace {

constexpr size_t kOffsetsShown = 8;

std::string Limits(const ReadPass& read) {
  std::string text;
  if (read.max_packets) text += fmt::format(", at most {}", Count(*read.max_packets, "packet"));
  if (read.max_bytes) text += fmt::format(", at most {} bytes", WithCommas(*read.max_bytes));
  if (read.reason != ReadReason::kUnknown) text += fmt::format(", {}", Name(read.reason));
  return text;
}

/// " TITLE VALUE" if there is a value.
template <typename T>
std::string Maybe(const char* title, const std::optional<T>& value) {
  return value ? fmt::format(" {} {}", title, *value) : std::string();
}

std::string Describe(const LogHeader& header) {
  std::string text =
      fmt::format("part {} of {}, {}", header.part,
                  header.uuid.empty() ? "a session" : Printable(header.uuid), Name(header.source));
  for (const std::string* field : {&header.tool, &header.host, &header.clock, &header.description})
    if (!field->empty()) text += ", " + Printable(*field);
  return text;
}
std::string Describe(const SessionStarted& started) {
  return fmt::format("session {}", started.session);
}
std::string Describe(const SessionEnded& ended) { return fmt::format("session {}", ended.session); }
std::string Describe(const TraceConfigRecord& config) {
  return fmt::format("{} bytes", WithCommas(config.config.size()));
}
std::string Describe(const BufferSetUp& buffer) {
  return fmt::format("buffer {}: {}, {}{}{}", Raw(buffer.id), HumanSize(buffer.size),
                     Name(buffer.policy), buffer.engine.empty() ? "" : ", ",
                     Printable(buffer.engine)) +
         (buffer.index ? fmt::format(", index {}", *buffer.index) : std::string());
}
std::string Describe(const BufferFreed& buffer) { return fmt::format("buffer {}", Raw(buffer.id)); }
std::string Describe(const ClockSnapshotRecord& snapshot) {
  return fmt::format("{} bytes", WithCommas(snapshot.snapshot.size()));
}
std::string Describe(const ProducerConnected& producer) {
  std::string text = fmt::format("producer {} '{}' uid {} pid {}", Raw(producer.producer),
                                 Printable(producer.name), producer.uid, producer.pid);
  text += Maybe("seen as uid", producer.seen_uid) + Maybe("seen as pid", producer.seen_pid);
  if (producer.scraping)
    text += fmt::format(", scraping {}", *producer.scraping == 1   ? "enabled"
                                         : *producer.scraping == 2 ? "disabled"
                                                                   : "unspecified");
  if (producer.smb_size) text += fmt::format(", shared memory {}", HumanSize(*producer.smb_size));
  if (producer.page_size) text += fmt::format(" in pages of {}", HumanSize(*producer.page_size));
  if (!producer.sdk.empty()) text += ", " + Printable(producer.sdk);
  return text;
}
std::string Describe(const SharedMemorySetUp& memory) {
  if (memory.size == 0) return fmt::format("producer {}: emulated", Raw(memory.producer));
  return fmt::format("producer {}: {} in pages of {}", Raw(memory.producer), HumanSize(memory.size),
                     HumanSize(memory.page_size));
}
std::string Describe(const ProducerDisconnected& producer) {
  return fmt::format("producer {}", Raw(producer.producer));
}
std::string Describe(const DataSourceRegistered& source) {
  return fmt::format("producer {}: '{}'{}", Raw(source.producer), Printable(source.name),
                     source.no_flush ? ", takes no part in flushes" : "");
}
std::string Describe(const DataSourceSetUp& source) {
  return fmt::format("producer {}: '{}', instance {}, to buffer {}", Raw(source.producer),
                     Printable(source.name), source.instance, Raw(source.target_buffer));
}
std::string Describe(const DataSourceStopped& source) {
  return fmt::format("producer {}: instance {}", Raw(source.producer), source.instance);
}
std::string Describe(const WriterRegistered& writer) {
  return fmt::format("{} for buffer {}", ToString(SequenceKey{writer.producer, writer.writer}),
                     Raw(writer.buffer));
}
std::string Describe(const WriterUnregistered& writer) {
  return ToString(SequenceKey{writer.producer, writer.writer});
}
std::string Describe(const Commit&) { return ""; }  // has lines of its own
std::string Describe(const FlushRequested& flush) {
  return fmt::format("flush {} of {}", flush.flush,
                     flush.producer ? fmt::format("producer {}", Raw(*flush.producer))
                                    : std::string("all producers"));
}
std::string Describe(const FlushAcknowledged& flush) {
  return fmt::format("flush {} by producer {}", flush.flush, Raw(flush.producer));
}
std::string Describe(const FlushTimedOut& flush) { return fmt::format("flush {}", flush.flush); }
std::string Describe(const ReadPass& read) {
  const std::string what =
      read.buffer ? fmt::format("buffer {}", Raw(*read.buffer)) : std::string("all buffers");
  return what + Limits(read);
}
std::string Describe(const CloneRead& clone) { return fmt::format("buffer {}", Raw(clone.buffer)); }
std::string Describe(const RecorderGap& gap) {
  std::string text = Printable(gap.reason);
  if (gap.producer) text += fmt::format(", producer {}", Raw(*gap.producer));
  if (gap.records) text += fmt::format(", {}", Count(*gap.records, "record"));
  if (gap.bytes) text += fmt::format(", {} bytes", WithCommas(*gap.bytes));
  if (gap.from_ns) text += fmt::format(", from {} ns", *gap.from_ns);
  if (gap.to_ns) text += fmt::format(", to {} ns", *gap.to_ns);
  return text;
}
std::string Describe(const Note& note) { return Printable(note.text); }

}  // namespace

std::string DescribeRecord(const OpBody& body) {
  return std::visit([](const auto& record) { return Describe(record); }, body);
}

std::string DescribeChunk(const ChunkToMove& chunk) {
  if (!chunk.data)
    return fmt::format("page {} chunk {} of the shared memory, whose bytes are not in the log",
                       chunk.page.value_or(0), chunk.index.value_or(0));
  const auto header = ParseChunkHeader(*chunk.data);
  if (!header) return fmt::format("malformed chunk of {}", Count(chunk.data->size(), "byte"));
  std::string text = fmt::format("{}, {}", Count(header->fragments, "fragment"),
                                 Count(chunk.data->size() - kChunkHeaderSize, "byte"));
  if ((header->flags & kFirstContinues) != 0) text += ", continues from previous";
  if ((header->flags & kLastContinues) != 0) text += ", continues on next";
  if ((header->flags & kNeedsPatching) != 0) text += ", needs patching";
  if ((header->flags & ~kAbiFlags) != 0)
    text += fmt::format(", unknown flags {:#x}", header->flags & ~kAbiFlags);
  if (chunk.incomplete) text += ", incomplete";
  return text;
}

std::string DescribePatches(const ChunkToPatch& patch) {
  const size_t count = patch.patches.size();
  std::string text = count == 1 ? "1 patch" : fmt::format("{} patches", WithCommas(count));
  for (size_t i = 0; i < count && i < kOffsetsShown; ++i)
    text += fmt::format("{} {}", i == 0 ? " at" : ",", patch.patches[i].offset);
  if (count > kOffsetsShown) text += ", ...";
  if (patch.more) text += ", more to come";
  return text;
}

}  // namespace ringscope
