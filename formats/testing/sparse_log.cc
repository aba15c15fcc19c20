#include "formats/testing/sparse_log.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/log/op.h"
#include "core/log/summary.h"
#include "formats/inputs/open_log.h"
#include "formats/log/commit_log_format.h"
#include "formats/log/commit_log_index.h"
#include "formats/log/commit_log_writer.h"
#include "formats/log/record_codec.h"
#include "formats/testing/generate_log.h"
#include "formats/testing/string_sink.h"

namespace ringscope::testing {
namespace {

using commit_log::IndexEntry;

constexpr uint64_t kSparseStartNs = 1'000'000'000'000;
constexpr size_t kSampleBytes = size_t{1} << 20;

/// A generated log's first commits, enough for a frame, and the records before them.
struct Sample {
  std::vector<Op> head;
  std::vector<Op> commits;
  std::vector<std::unique_ptr<const std::string>> requests;
};

Result<Sample> MakeSample() {
  StringSink log;
  RS_RETURN_IF_ERROR(GenerateLog({.chunk_bytes = 2 * kSampleBytes}, log));
  RS_ASSIGN_OR_RETURN(const auto reader, OpenLog(MakeMemorySource(std::move(log.text))));
  Sample sample;
  size_t bytes = 0;
  while (bytes < kSampleBytes - (size_t{16} << 10)) {
    RS_ASSIGN_OR_RETURN(std::optional<Op> op, reader->Next());
    if (!op) break;
    auto* const commit = std::get_if<Commit>(&op->body);
    if (commit == nullptr) {
      sample.head.push_back(*std::move(op));
      continue;
    }
    sample.requests.push_back(std::make_unique<const std::string>(wire::AsText(commit->request)));
    commit->request = wire::AsBytes(*sample.requests.back());
    bytes += commit->request.size();
    sample.commits.push_back(*std::move(op));
  }
  return sample;
}

class SparseGenerator {
 public:
  SparseGenerator(const SparseLog& log, const WriteAtFn& write, const Sample& sample)
      : log_(log), write_(write), sample_(sample), compressor_(kDefaultLevel, /*threads=*/0) {}

  Status Run() {
    const std::string start = commit_log::StartFrame();
    index_.AddSkippableFrame(start.size());
    RS_RETURN_IF_ERROR(Write(start));
    step_ns_ = 1;  // the size of a frame is not known before the first one
    RS_RETURN_IF_ERROR(AddFrame(sample_.head));
    RS_RETURN_IF_ERROR(AddFrame(sample_.commits));
    const uint64_t frames = std::max<uint64_t>(log_.file_bytes / frame_.compressed_size,
                                               log_.frames_per_place + log_.places);
    step_ns_ = std::max<uint64_t>(log_.duration_ns / frames, 1);
    now_ns_ = kSparseStartNs + step_ns_;
    uint32_t place = 0;
    for (uint64_t i = 2; i < frames; ++i) {
      if (i >= log_.FirstFrame(frames, place) + log_.frames_per_place) ++place;
      if (i >= log_.FirstFrame(frames, place)) {
        RS_RETURN_IF_ERROR(AddFrame(sample_.commits));
      } else {
        AddHole();
      }
    }
    return Write(index_.Finish(records_, Sessions()));
  }

 private:
  Status Write(std::string_view bytes) {
    RS_RETURN_IF_ERROR(write_(offset_, wire::AsBytes(bytes)));
    offset_ += bytes.size();
    return {};
  }

  Status AddFrame(const std::vector<Op>& ops) {
    std::unique_ptr<FrameJob> job = compressor_.NewJob();
    job->entry = {.first_record = records_, .records = ops.size(), .first_time_ns = now_ns_};
    for (size_t i = 0; i < ops.size(); ++i) {
      Op op = ops[i];
      op.time_ns = now_ns_ + step_ns_ * i / ops.size();
      job->entry.last_time_ns = op.time_ns;
      summaries_.Add(op, records_ + i);
      commit_log::AppendRecord(op, i == 0 ? std::optional(records_) : std::nullopt, job->content);
    }
    compressor_.Add(std::move(job));
    RS_ASSIGN_OR_RETURN(job, compressor_.Take(/*all=*/true));
    job->compressed.resize(static_cast<size_t>(job->entry.compressed_size));
    frame_ = job->entry;
    Note(frame_);
    return Write(job->compressed);
  }

  /// A frame like the one before that is not written.
  void AddHole() {
    frame_.first_record = records_;
    frame_.first_time_ns = now_ns_;
    frame_.last_time_ns = now_ns_ + step_ns_ - 1;
    frame_.frame_hash = frame_.frame_hash * 6364136223846793005 + 1442695040888963407;
    Note(frame_);
    offset_ += frame_.compressed_size;
  }

  void Note(const IndexEntry& entry) {
    index_.AddDataFrame(entry, static_cast<uint32_t>(entry.frame_hash));
    records_ += entry.records;
    now_ns_ += step_ns_;
  }

  /// The summary, as if all frames had been written.
  std::vector<SessionSummary> Sessions() const {
    std::vector<SessionSummary> sessions = summaries_.Sessions();
    SessionSummary& session = sessions.front();
    session.counts[OpKindOf<Commit>()] += records_ - session.records;
    session.records = records_;
    return sessions;
  }

  const SparseLog& log_;
  const WriteAtFn& write_;
  const Sample& sample_;
  FrameCompressor compressor_;
  commit_log::IndexBuilder index_;
  LogSummaryBuilder summaries_;
  IndexEntry frame_;  // the last one
  uint64_t step_ns_ = 0;
  uint64_t now_ns_ = kSparseStartNs;
  uint64_t records_ = 0;
  uint64_t offset_ = 0;
};

}  // namespace

Status GenerateSparseLog(const SparseLog& log, const WriteAtFn& write) {
  RS_ASSIGN_OR_RETURN(const Sample sample, MakeSample());
  return SparseGenerator(log, write, sample).Run();
}

}  // namespace ringscope::testing
