#include "formats/trace/trace_log.h"

#include <fmt/format.h>

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "core/log/payload_mask.h"
#include "core/trace/packet_view.h"
#include "core/trace/session_split.h"

namespace ringscope {
namespace {

std::string TraceName(const std::string& path) {
  if (path == "-") return "on standard input";
  return std::filesystem::path(path).filename().string();
}

/// Reads a trace's packets ahead of their use, in a thread of its own. Where the system has no more
/// threads, they are read when they are asked for.
/// Memory: a few blocks of packets, at most 2 MiB, unless one packet is larger.
class PacketsAhead {
 public:
  struct Item {
    RawPacket raw;  // of a brief packet that is in the file, without bytes
    bool is_brief;
    BriefPacket brief;
  };

  /// @param reader must outlive this
  /// @param keeps_file packets in the file can be read there again: brief ones are not copied
  PacketsAhead(TraceReader& reader, bool keeps_file, ReadAhead ahead)
      : reader_(reader), keeps_file_(keeps_file) {
    if (ahead == ReadAhead::kNo) return;
    try {
      thread_ = std::thread([this] { FillBlocks(); });
    } catch (const std::system_error&) {
    }
  }
  ~PacketsAhead() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  PacketsAhead(const PacketsAhead&) = delete;
  PacketsAhead& operator=(const PacketsAhead&) = delete;

  /// Returns the next packet, which is valid until the next call, or nullptr at the clean end.
  Result<const Item*> Next() {
    while (block_ == nullptr || next_ == block_->items.size()) {
      if (block_ != nullptr && block_->is_last) {
        RS_RETURN_IF_ERROR(block_->status);
        return nullptr;
      }
      TakeBlock();
    }
    return &block_->items[next_++];
  }
  /// Whether Next returned the last packet of those that were read at once: a time to report
  /// progress.
  bool is_between_blocks() const { return block_ == nullptr || next_ == block_->items.size(); }

 private:
  static constexpr size_t kBlockPackets = 1024;
  static constexpr size_t kBlockBytes = size_t{256} << 10;
  static constexpr size_t kBlocksAhead = 4;

  /// Packets with copies of their bytes.
  struct Block {
    std::vector<Item> items;
    std::string bytes;              // kBlockBytes are reserved: it does not move
    std::deque<std::string> large;  // packets that do not fit there
    size_t large_bytes = 0;
    bool is_last = false;
    Status status;  // after the items

    Bytes Copy(Bytes packet) {
      if (bytes.capacity() < kBlockBytes) bytes.reserve(kBlockBytes);
      if (packet.size() > kBlockBytes - bytes.size()) {
        large_bytes += packet.size();
        return wire::AsBytes(large.emplace_back(wire::AsText(packet)));
      }
      const size_t start = bytes.size();
      bytes += wire::AsText(packet);
      return wire::AsBytes(bytes).subspan(start);
    }
    void Clear() {
      items.clear();
      bytes.clear();
      large.clear();
      large_bytes = 0;
      is_last = false;
      status = {};
    }
  };

  void FillBlock(Block& block) {
    block.Clear();
    while (block.items.size() < kBlockPackets && block.bytes.size() < kBlockBytes &&
           block.large_bytes == 0) {
      Item& item = block.items.emplace_back();
      RawPacket& raw = item.raw;
      const Result<bool> more = reader_.Next(raw);
      if (!more || !*more) {
        block.items.pop_back();
        block.is_last = true;
        if (!more) block.status = tl::unexpected<Error>(more.error());
        return;
      }
      if (!keeps_file_) raw.in_file.reset();
      item.is_brief = ReadBriefPacket(raw.bytes, item.brief);
      if (item.is_brief) raw.bytes = raw.bytes.first(item.brief.content_size);
      raw.bytes = item.is_brief && raw.in_file ? Bytes() : block.Copy(raw.bytes);
    }
  }
  void TakeBlock() {
    next_ = 0;
    if (!thread_.joinable()) {
      if (block_ == nullptr) block_ = std::make_unique<Block>();
      return FillBlock(*block_);
    }
    std::unique_lock lock(mutex_);
    if (block_ != nullptr) spare_.push_back(std::move(block_));
    changed_.wait(lock, [this] { return !filled_.empty(); });
    block_ = std::move(filled_.front());
    filled_.pop_front();
    large_ahead_ -= block_->large_bytes;
    changed_.notify_all();
  }
  void FillBlocks() {
    for (bool is_last = false; !is_last;) {
      std::unique_ptr<Block> block;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] {
          return stop_ || (filled_.size() < kBlocksAhead && large_ahead_ <= kBlockBytes);
        });
        if (stop_) return;
        if (!spare_.empty()) {
          block = std::move(spare_.back());
          spare_.pop_back();
        }
      }
      if (block == nullptr) block = std::make_unique<Block>();
      FillBlock(*block);
      is_last = block->is_last;
      {
        const std::lock_guard lock(mutex_);
        large_ahead_ += block->large_bytes;
        filled_.push_back(std::move(block));
      }
      changed_.notify_all();
    }
  }

  TraceReader& reader_;
  const bool keeps_file_;

  std::unique_ptr<Block> block_;  // that Next returns from
  size_t next_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Block>> filled_;
  std::vector<std::unique_ptr<Block>> spare_;
  size_t large_ahead_ = 0;  // bytes in filled_
  bool stop_ = false;
  std::thread thread_;
};

/// Makes the sessions of a log of those of a trace, one after the other.
class SessionImports {
 public:
  /// @param file of the trace, in which its packets can be read again; nullptr: they cannot
  SessionImports(const TraceLogOptions& options, ByteSource* file, CommitLogWriter& writer)
      : options_(options), file_(file), writer_(writer) {
    Start();
  }

  Status Add(const PacketsAhead::Item& packet) {
    const auto add_kept = [this](uint64_t offset, Bytes bytes) { return AddKept(offset, bytes); };
    const auto start_next = [this](uint64_t) { return StartNext(); };
    TracePacket whole;
    // Sessions are told apart by packets of the service; all others are alike, and are not kept.
    TracePacketView view;
    view.sequence_id = packet.brief.sequence_id;
    if (!packet.is_brief) {
      whole = SplitTracePacket(packet.raw);
      view.sequence_id = whole.sequence_id;
      if (whole.sequence_id <= kServiceSequenceId) ViewTracePacket(whole.bytes, view);
    }
    RS_ASSIGN_OR_RETURN(const bool is_kept,
                        split_.Add(packet.raw.offset, whole.bytes, view, add_kept, start_next));
    if (is_kept) return {};
    return packet.is_brief ? import_->Add(packet.brief, packet.raw.bytes, packet.raw.in_file)
                           : import_->Add(whole);
  }

  Status Finish() {
    RS_RETURN_IF_ERROR(
        split_.Finish([this](uint64_t offset, Bytes bytes) { return AddKept(offset, bytes); }));
    return EndSession();
  }

  /// Of all sessions whose records are written, in their order.
  std::vector<TraceImportReport> TakeReports() { return std::move(reports_); }
  bool has_packets() const { return has_packets_ || import_->report().packets > 0; }

 private:
  void Start() {
    std::string name = TraceName(options_.path);
    if (!reports_.empty()) name += fmt::format(", session {}", reports_.size() + 1);
    import_ = std::make_unique<TraceImport>(TraceImportOptions{
        .name = std::move(name), .sorter = {.folder = options_.folder, .file = file_}});
  }
  Status AddKept(uint64_t offset, Bytes bytes) {
    return import_->Add(SplitTracePacket({.offset = offset, .bytes = bytes, .in_file = {}}));
  }
  Status StartNext() {
    RS_RETURN_IF_ERROR(EndSession());
    Start();
    return {};
  }
  Status EndSession() {
    RS_RETURN_IF_ERROR(import_->Write([this](const Op& op) {
      if (options_.on_write) options_.on_write(import_->written_bytes(), import_->total_bytes());
      return writer_.Append(options_.without_payload ? mask_.Apply(op) : op);
    }));
    has_packets_ |= import_->report().packets > 0;
    reports_.push_back(import_->report());
    return {};
  }

  const TraceLogOptions& options_;
  ByteSource* const file_;
  CommitLogWriter& writer_;
  PayloadMask mask_;
  SessionSplit split_;
  std::unique_ptr<TraceImport> import_;  // of the session that is being read
  std::vector<TraceImportReport> reports_;
  bool has_packets_ = false;  // in a session that has ended
};

}  // namespace

Result<TraceLog> WriteTraceLog(const TraceLogOptions& options, std::unique_ptr<ByteSource> source,
                               ByteSink& sink) {
  ByteSource* const file = source.get();  // the reader has it
  const ReadAhead ahead = PaysToReadAhead(source->size()) ? ReadAhead::kYes : ReadAhead::kNo;
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<TraceReader> reader,
                      TraceReader::Open(std::move(source), TraceReader::OnDamage::kSkip, ahead));
  RS_ASSIGN_OR_RETURN(
      const std::unique_ptr<CommitLogWriter> writer,
      CommitLogWriter::Create(sink, {.level = options.level, .threads = options.threads}));
  const bool keeps_file = file->CanReadAt();
  SessionImports sessions(options, keeps_file ? file : nullptr, *writer);
  {
    PacketsAhead packets(*reader, keeps_file, options.threads > 0 ? ahead : ReadAhead::kNo);
    while (true) {
      RS_ASSIGN_OR_RETURN(const PacketsAhead::Item* const packet, packets.Next());
      if (packet == nullptr) break;
      RS_RETURN_IF_ERROR(sessions.Add(*packet));
      if (options.on_read && packets.is_between_blocks())
        options.on_read(reader->position(), reader->size().value_or(0));
    }
  }
  if (reader->damage_count() > 0 && !sessions.has_packets()) {
    const Damage& damage = reader->damage().front();
    return Fail(ErrorCode::kCorrupt, damage.what, Where{options.path, damage.offset, {}},
                "no packets could be read from this trace");
  }
  RS_RETURN_IF_ERROR(sessions.Finish());
  RS_RETURN_IF_ERROR(writer->Close());
  return TraceLog{.sessions = sessions.TakeReports(),
                  .damage = reader->damage(),
                  .damage_count = reader->damage_count(),
                  .records = writer->records(),
                  .bytes = writer->bytes_written()};
}

}  // namespace ringscope
