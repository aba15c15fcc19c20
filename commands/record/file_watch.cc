#include "commands/record/file_watch.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>

#include "commands/record/consumer_tap.h"
#include "core/perfetto/fields.h"
#include "core/session/service_reads.h"
#include "formats/io/descriptor_io.h"

namespace ringscope {
namespace {

/// Between two writes of the same read, if the service confirms nothing meanwhile and does not mark
/// the end of a read; the second as long as it is not known whether it does.
constexpr std::chrono::milliseconds kSameRead{80};
constexpr std::chrono::milliseconds kFirstRead{400};
/// A read by the clock begins at a multiple of its period, or somewhat later. What is under way
/// shortly before should be confirmed by then.
constexpr std::chrono::milliseconds kBeforeDue{1};
constexpr std::chrono::milliseconds kAfterDue{4};
/// Bytes at the beginning and end of a read in which the service's own packets are looked for.
constexpr uint64_t kMostOwnBytes = 256 * 1024;
/// TracePacket.service_event.read_tracing_buffers_completed: in the last packets of each read,
/// unless the config has disable_service_events.
constexpr std::string_view kReadCompleted = "\xAA\x04\x02\x20\x01";

/// Returns how many reads end there.
uint64_t EndsIn(std::string_view bytes) {
  uint64_t ends = 0;
  for (size_t at = 0; (at = bytes.find(kReadCompleted, at)) != std::string_view::npos; ++at) ++ends;
  return ends;
}

/// Returns the bytes of the service's own packets that a read begins with.
uint64_t OwnBytesIn(Bytes bytes) {
  OwnPackets own;
  wire::FieldReader packets(bytes);
  while (const auto packet = packets.Next())
    if (!packet->IsBytes(proto::Trace::kPacket) || !own.Add(packet->bytes)) break;
  return own.bytes();
}

}  // namespace

std::optional<uint64_t> FileWatch::SizeOf(const File& file) {
  struct stat status = {};
  const int failed =
      file.fd.valid() ? ::fstat(file.fd.get(), &status) : ::stat(file.path.c_str(), &status);
  if (failed != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<uint64_t>(status.st_size);
}

void FileWatch::Arm(File& file, Clock::time_point now) {
  if (file.period.count() == 0) return;
  // The service counts its periods on CLOCK_MONOTONIC, which is this clock.
  const std::chrono::nanoseconds since_boot = now.time_since_epoch();
  file.due = now + (file.period - since_boot % file.period);
}

void FileWatch::Start(SessionId session, File file, Clock::time_point now) {
  const std::optional<uint64_t> size = SizeOf(file);
  // A file that has only a name so far is created by the service when it handles the request.
  if (!size && (file.fd.valid() || !file.path.starts_with('/'))) return MarkUnknown(session);
  file.size = size.value_or(0);
  Arm(file, now);
  files_[session] = std::move(file);
}

void FileWatch::MarkUnknown(SessionId session) {
  log_.MarkInexact(
      {.reason = InexactReason::kReads,
       .session = session,
       .detail = "its file cannot be watched: when the service read is not in the log"});
}

std::vector<uint8_t> FileWatch::BytesAt(const File& file, uint64_t offset) {
  const UniqueFd named(file.fd.valid() ? -1 : ::open(file.path.c_str(), O_RDONLY | O_CLOEXEC));
  std::vector<uint8_t> bytes(kMostOwnBytes);
  bytes.resize(ReadAllAt((file.fd.valid() ? file.fd : named).get(), offset, bytes).value_or(0));
  return bytes;
}

void FileWatch::Log(SessionId session, std::optional<uint64_t> size,
                    std::optional<uint64_t> own_bytes) {
  log_.Append(ReadPass{.max_bytes = ServiceReads::kFilePassBytes,
                       .reason = ReadReason::kFile,
                       .session = session,
                       .file_bytes = size,
                       .own_bytes = own_bytes});
}

void FileWatch::LookAt(SessionId session, File& file, Clock::time_point now) {
  if (file.period.count() > 0 && now > file.due + kAfterDue) Arm(file, now);
  const std::optional<uint64_t> size = SizeOf(file);
  if (!size || *size == file.size) return;
  const uint64_t before = std::exchange(file.size, *size);
  Arm(file, now + kBeforeDue);
  // The service may have to wait for the disk, or for a processor, within a read.
  const bool continues =
      file.grown &&
      (file.has_ends == true ? file.is_within
                             : now - *file.grown <= (file.has_ends ? kSameRead : kFirstRead));
  file.grown = now;
  const uint64_t searched = std::min(*size - before + kReadCompleted.size() - 1, kMostOwnBytes);
  const auto tail = BytesAt(file, *size - std::min(*size, searched));
  const uint64_t ends = EndsIn(wire::AsText(tail));
  if (ends > 0) file.has_ends = true;
  file.is_within = ends == 0;
  const uint64_t begun = std::max<uint64_t>(ends, 1) - (continues ? 1 : 0);
  if (begun == 0) return;
  reads_ += begun;
  file.read = reads_;
  Log(session, *size, continues ? std::nullopt : std::optional(OwnBytesIn(BytesAt(file, before))));
  for (uint64_t i = 1; i < begun; ++i) Log(session, *size);  // nothing has passed between them
  if (under_way_ == UnderWay::kRequests) {
    log_.MarkInexact(
        {.reason = InexactReason::kReads,
         .session = session,
         .detail = "requests were under way when the service read for its file: they may have "
                   "been handled before or after"});
  }
}

void FileWatch::Look(Clock::time_point now) {
  for (auto& [session, file] : files_) LookAt(session, file, now);
}

void FileWatch::OnPassing(Clock::time_point now) {
  Look(now);
  under_way_ = UnderWay::kRequests;
}

void FileWatch::OnConfirmed(uint64_t reads, Clock::time_point now) {
  Look(now);
  under_way_ = UnderWay::kNothing;
  for (auto& [session, file] : files_) {
    if (!file.grown || file.read > reads) continue;
    if (!file.has_ends) file.has_ends = false;  // it has ended without a mark
    file.grown.reset();
  }
}

bool FileWatch::IsDue(Clock::time_point now) const {
  for (const auto& [session, file] : files_)
    if (file.period.count() > 0 && now >= file.due - kBeforeDue && now <= file.due + kAfterDue)
      return true;
  return false;
}

std::optional<FileWatch::Clock::time_point> FileWatch::next_wait() const {
  std::optional<Clock::time_point> next;
  for (const auto& [session, file] : files_)
    if (file.period.count() > 0 && (!next || file.due - kBeforeDue < *next))
      next = file.due - kBeforeDue;
  return next;
}

void FileWatch::End(SessionId session, bool is_freed, Clock::time_point now) {
  const auto found = files_.find(session);
  if (found == files_.end()) return;
  if (!SizeOf(found->second))
    MarkUnknown(session);  // a name that means nothing here
  else if (is_freed)
    Log(session, std::nullopt);
  else
    LookAt(session, found->second, now);
  files_.erase(found);
}

}  // namespace ringscope
