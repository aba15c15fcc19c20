#include "formats/log/commit_log_writer.h"

#include <fmt/format.h>
#include <xxhash.h>
#include <zstd.h>

#include <thread>

#include "core/base/wire.h"
#include "core/log/summary.h"
#include "formats/io/hex.h"
#include "formats/log/commit_log_format.h"
#include "formats/log/record_codec.h"

namespace ringscope {
Status FrameCompressor::Compress(FrameJob& job) const {
  constexpr size_t kPieceBytes = 64 * 1024;  // compressed, at the level of logs, in about 0.1 ms
  if (job.context == nullptr) job.context.reset(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ZSTD_CCtx_s* const context = job.context.get();
  const int level = std::clamp(level_, ZSTD_minCLevel(), ZSTD_maxCLevel());
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 1);
  // The string keeps its length, so that only what it grows by is cleared.
  const size_t bound = ZSTD_compressBound(job.content.size());
  if (job.compressed.size() < bound) job.compressed.resize(bound);
  ZSTD_CCtx_reset(context, ZSTD_reset_session_only);
  ZSTD_CCtx_setPledgedSrcSize(context, job.content.size());
  ZSTD_outBuffer output{job.compressed.data(), job.compressed.size(), 0};
  ZSTD_inBuffer input{job.content.data(), 0, 0};
  while (input.size < job.content.size()) {
    input.size +=
        std::min(pause_ ? kPieceBytes : job.content.size(), job.content.size() - input.pos);
    const bool is_last = input.size == job.content.size();
    const size_t left =
        ZSTD_compressStream2(context, &output, &input, is_last ? ZSTD_e_end : ZSTD_e_flush);
    if (ZSTD_isError(left))
      return Fail(ErrorCode::kLimit,
                  fmt::format("zstd cannot compress a frame: {}", ZSTD_getErrorName(left)));
    if (pause_) pause_();
  }
  job.entry.compressed_size = output.pos;
  job.entry.content_size = job.content.size();
  job.entry.frame_hash = commit_log::Hash(wire::AsBytes(job.compressed).first(output.pos));
  return {};
}

std::unique_ptr<FrameJob> FrameCompressor::NewJob() {
  if (spare_.empty()) return std::make_unique<FrameJob>();
  std::unique_ptr<FrameJob> job = std::move(spare_.back());
  spare_.pop_back();
  return job;
}

void FrameCompressor::Add(std::unique_ptr<FrameJob> job) {
  // Where the system has no more threads, Take compresses.
  const auto how =
      threads_ > 0 ? std::launch::async | std::launch::deferred : std::launch::deferred;
  std::future<Status> done = std::async(how, [this, &added = *job] { return Compress(added); });
  pending_.push_back({std::move(job), std::move(done)});
}

Result<std::unique_ptr<FrameJob>> FrameCompressor::Take(bool all) {
  if (pending_.empty()) return nullptr;
  Pending& first = pending_.front();
  if (!all && pending_.size() <= threads_ &&
      first.done.wait_for(std::chrono::seconds(0)) == std::future_status::timeout)
    return nullptr;
  const Status status = first.done.get();
  std::unique_ptr<FrameJob> job = std::move(first.job);
  pending_.pop_front();
  RS_RETURN_IF_ERROR(status);
  return job;
}

namespace {

using commit_log::IndexBuilder;
using commit_log::IndexEntry;

/// Hexadecimal XXH3-128 of the records that follow a header: the same input, the same name.
std::string DeriveUuid(std::string_view records) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(records.data(), records.size()));
  std::string uuid;
  AppendHex(uuid, canonical.digest);
  return uuid;
}

class Writer : public CommitLogWriter {
 public:
  Writer(ByteSink& sink, CommitLogWriterOptions options)
      : sink_(sink),
        frame_bytes_(std::clamp(options.frame_bytes, size_t{1}, commit_log::kMaxRecordBytes)),
        map_memory_(options.map_memory),
        compressor_(options.level, options.threads, std::move(options.pause)) {}

  Status Start() {
    if (map_memory_) RS_RETURN_IF_ERROR(MapMemory());
    index_.AddSkippableFrame(commit_log::kStartFrameSize);
    return Emit(commit_log::StartFrame());
  }

  Status Append(const Op& op) override {
    const auto* header = std::get_if<LogHeader>(&op.body);
    RS_RETURN_IF_ERROR(CheckUsable(/*needs_header=*/header == nullptr));
    if (header != nullptr) return AppendHeader(op, *header);
    if (const auto* commit = std::get_if<Commit>(&op.body)) return AppendCommit(op, *commit);
    return AppendRecord(op);
  }

  Status Flush() override {
    RS_RETURN_IF_ERROR(CheckUsable());
    RS_RETURN_IF_ERROR(CloseFrame());
    return EmitFrames(/*all=*/true);
  }

  Status Close() override {
    RS_RETURN_IF_ERROR(Flush());
    closed_ = true;
    return Emit(index_.Finish(records_, summaries_.Sessions()));
  }

  uint64_t records() const override { return records_; }
  uint64_t bytes_written() const override { return bytes_written_; }

 private:
  /// Fills and compresses a frame that is not written.
  Status MapMemory() {
    const size_t bytes = frame_bytes_ + frame_bytes_ / 8;  // a record may be longer than its room
    frame_.resize(bytes);
    std::unique_ptr<FrameJob> job = compressor_.NewJob();
    job->content.resize(bytes);
    compressor_.Add(std::move(job));
    frame_.clear();
    RS_ASSIGN_OR_RETURN(job, compressor_.Take(/*all=*/true));
    compressor_.Recycle(std::move(job));
    return {};
  }

  Status CheckUsable(bool needs_header = false) const {
    if (failed_) return tl::unexpected<Error>(*failed_);
    if (closed_) return Fail(ErrorCode::kUsage, "the commit log is closed already");
    if (!needs_header || records_ > 0) return {};
    return Fail(ErrorCode::kUsage, "a commit log begins with a header record", {},
                "append a LogHeader first");
  }

  Status AppendHeader(const Op& op, const LogHeader& header) {
    if (header.format_version != commit_log::VersionOf(header))
      return Fail(ErrorCode::kUnsupported,
                  fmt::format("cannot write format version {}, only version {}",
                              header.format_version, commit_log::VersionOf(header)));
    RS_RETURN_IF_ERROR(CloseFrame());
    // The header comes before the frame's other records when it is closed: a missing uuid is made
    // from them. Till then its size counts, with a uuid.
    Op named = op;
    if (header.uuid.empty()) std::get<LogHeader>(named.body).uuid = DeriveUuid({});
    std::string encoded;
    commit_log::AppendRecord(named, records_, encoded);
    if (encoded.size() > commit_log::kMaxHeaderBytes)
      return Fail(ErrorCode::kLimit,
                  fmt::format("the header is {} bytes long, at most {} are possible",
                              encoded.size(), commit_log::kMaxHeaderBytes));
    header_ = op;
    header_bytes_ = encoded.size();
    NoteRecord(op);
    return {};
  }

  /// Splits a request that is larger than a frame at the borders of its fields.
  Status AppendCommit(const Op& op, const Commit& commit) {
    if (commit.part == 0) extra_parts_ = 0;
    if (commit.request.size() <= frame_bytes_ && extra_parts_ == 0) return AppendRecord(op);

    Op part_op = op;
    Commit& part = std::get<Commit>(part_op.body);
    if (commit.part == 0 && commit.last && commit.number == 0) part.number = records_;
    part.part += extra_parts_;
    Bytes rest = commit.request;
    for (;;) {
      const size_t size = PartSize(rest);
      part.request = rest.first(size);
      part.last = commit.last && size == rest.size();
      if (part.last && part.part == 0) part.number = commit.number;  // one field: not split
      RS_RETURN_IF_ERROR(AppendRecord(part_op));
      rest = rest.subspan(size);
      if (rest.empty()) return {};
      ++part.part;
      ++extra_parts_;
    }
  }

  /// Returns the bytes of the fields at the front that fit a frame, at least one. Malformed
  /// requests stay together.
  size_t PartSize(Bytes request) const {
    wire::FieldReader reader(request);
    size_t size = 0;
    while (const auto field = reader.Next()) {
      if (size > 0 && size + field->whole.size() > frame_bytes_) return size;
      size += field->whole.size();
    }
    return reader.ok() || size == 0 ? request.size() : size;
  }

  Status AppendRecord(const Op& op) {
    // A record goes into the open frame if it fits. The first record after a header stays with it,
    // so that a uuid is always made from something.
    const bool first = entry_.records == 0;
    const size_t before = frame_.size();
    commit_log::AppendRecord(op, first ? std::optional(records_) : std::nullopt, frame_);
    const size_t size = frame_.size() - before;
    if (size > commit_log::kMaxRecordBytes) {
      frame_.resize(before);
      return Fail(
          ErrorCode::kLimit,
          fmt::format("record {} is {} bytes long, the commit log holds records of up to {}",
                      records_, size, commit_log::kMaxRecordBytes));
    }
    if (before > 0 && header_bytes_ + frame_.size() > frame_bytes_) {
      frame_.resize(before);
      RS_RETURN_IF_ERROR(CloseFrame());
      commit_log::AppendRecord(op, records_, frame_);
    }
    NoteRecord(op);
    return {};
  }

  void NoteRecord(const Op& op) {
    if (entry_.records == 0) entry_.first_record = records_;
    entry_.AddRecord(op.time_ns);
    summaries_.Add(op, records_);
    ++records_;
  }

  Status CloseFrame() {
    if (entry_.records == 0) return {};
    if (header_) {
      // Before the frame's other records, with a uuid.
      auto& header = std::get<LogHeader>(header_->body);
      if (header.uuid.empty()) summaries_.SetUuid(header.uuid = DeriveUuid(frame_));
      std::string encoded;
      commit_log::AppendRecord(*header_, entry_.first_record, encoded);
      frame_.insert(0, encoded);
      header_.reset();
      header_bytes_ = 0;
    }
    std::unique_ptr<FrameJob> job = compressor_.NewJob();
    job->entry = std::exchange(entry_, {});
    job->content.swap(frame_);
    frame_.clear();
    compressor_.Add(std::move(job));
    return EmitFrames(/*all=*/false);
  }

  /// Writes the frames that are compressed.
  Status EmitFrames(bool all) {
    for (;;) {
      auto job = compressor_.Take(all);
      if (!job) return FailWith(tl::unexpected<Error>(std::move(job).error()));
      if (!*job) return {};
      const IndexEntry& entry = (*job)->entry;
      const std::string_view frame = std::string_view((*job)->compressed)
                                         .substr(0, static_cast<size_t>(entry.compressed_size));
      // zstd has just made the content's checksum: it is the frame's last four bytes.
      const Bytes checksum = wire::AsBytes(frame).last(sizeof(uint32_t));
      index_.AddDataFrame(entry, wire::LoadLittleEndian<uint32_t>(checksum.data()));
      RS_RETURN_IF_ERROR(Emit(frame));
      compressor_.Recycle(*std::move(job));
    }
  }

  Status Emit(std::string_view bytes) {
    if (Status status = sink_.Write(bytes); !status) return FailWith(std::move(status));
    bytes_written_ += bytes.size();
    return {};
  }

  /// Nothing can be written any more.
  Status FailWith(Status status) {
    failed_ = status.error();
    return status;
  }

  ByteSink& sink_;
  const size_t frame_bytes_;
  const bool map_memory_;
  FrameCompressor compressor_;

  std::string frame_;         // encoded records of the open frame, without its header
  std::optional<Op> header_;  // of the open frame
  size_t header_bytes_ = 0;   // encoded
  IndexEntry entry_;          // of the open frame, with the header

  uint64_t records_ = 0;
  uint64_t bytes_written_ = 0;
  uint32_t extra_parts_ = 0;  // that splitting added to the current request
  LogSummaryBuilder summaries_;
  IndexBuilder index_;
  bool closed_ = false;
  std::optional<Error> failed_;  // the sink's; everything after it fails the same way
};

}  // namespace

Result<std::unique_ptr<CommitLogWriter>> CommitLogWriter::Create(ByteSink& sink,
                                                                 CommitLogWriterOptions options) {
  auto writer = std::make_unique<Writer>(sink, options);
  RS_RETURN_IF_ERROR(writer->Start());
  return writer;
}

unsigned CompressionThreads() {
  const unsigned processors = std::thread::hardware_concurrency();
  return processors < 2 ? 0 : std::min(processors, 4U);
}

LogHeader ImportHeader() {
  LogHeader header;
  header.format_version = commit_log::kFormatVersion;
  header.tool = fmt::format("{} {}", kToolName, kToolVersion);
  return header;
}

bool IsImportHeader(const LogHeader& header) {
  LogHeader comparable = header;
  comparable.uuid.clear();
  if (comparable.tool.starts_with(fmt::format("{} ", kToolName)))
    comparable.tool = ImportHeader().tool;
  return comparable == ImportHeader();
}

}  // namespace ringscope
