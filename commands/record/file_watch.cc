#include "commands/record/file_watch.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/record/consumer_tap.h"
#include "core/log/service_reads.h"
#include "core/perfetto/fields.h"
#include "formats/io/descriptor_io.h"

namespace ringscope {
namespace {

/// Bytes at the beginning and end of a read in which the service's own packets are looked for.
constexpr uint64_t kMostOwnBytes = 256 * 1024;
/// TracePacket.service_event.read_tracing_buffers_completed: in the last packets of each read,
/// unless the config has disable_service_events.
constexpr std::string_view kReadCompleted = "\xAA\x04\x02\x20\x01";

/// What a part of the file shows of reads.
struct ReadsIn {
  uint64_t ends = 0;
  bool begins = false;  // after the last end, another read begins; always, if ends do not show
};

/// @param shows_ends see TraceConfigFacts::shows_ends_of_reads
ReadsIn FindReads(std::string_view bytes, bool shows_ends) {
  ReadsIn reads{.begins = !shows_ends};
  if (!shows_ends) return reads;
  size_t end = 0;
  for (size_t at = 0; (at = bytes.find(kReadCompleted, at)) != std::string_view::npos; at = end) {
    end = at + kReadCompleted.size();
    ++reads.ends;
  }
  wire::FieldReader packets(wire::AsBytes(bytes.substr(end)));
  while (const auto packet = packets.Next()) {
    if (!packet->IsBytes(proto::Trace::kPacket)) continue;  // the rest of the last event's packet
    wire::FieldReader fields(packet->bytes);
    bool is_end = false;
    while (const auto field = fields.Next())
      is_end |= field->IsBytes(proto::TracePacket::kTraceStats) ||
                field->IsBytes(proto::TracePacket::kServiceEvent);
    reads.begins |= !is_end;
  }
  reads.begins |= !packets.ok();
  return reads;
}

/// Returns the bytes of the service's own packets that a read begins with.
uint64_t OwnBytesIn(Bytes bytes) {
  OwnPackets own;
  wire::FieldReader packets(bytes);
  while (const auto packet = packets.Next())
    if (!packet->IsBytes(proto::Trace::kPacket) || !own.Add(packet->bytes)) break;
  return own.bytes();
}

/// Returns nullopt if it is no regular file.
std::optional<uint64_t> SizeOf(const UniqueFd& file) {
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<uint64_t>(status.st_size);
}

/// Returns some of what is written from there on.
std::vector<uint8_t> BytesAt(const UniqueFd& file, uint64_t offset) {
  std::vector<uint8_t> bytes(kMostOwnBytes);
  bytes.resize(ReadAllAt(file.get(), offset, bytes).value_or(0));
  return bytes;
}

}  // namespace

void FileWatch::Start(SessionId session, const std::string& path, bool is_there, bool shows_ends) {
  File& file = files_[session];
  file.shows_ends = shows_ends;
  file.path = path;
  Open(session, file);
  file.size = SizeOf(file.fd).value_or(0);
  if (file.fd.valid() || (!is_there && path.starts_with('/'))) return;
  Drop(session);
  MarkUnknown(session);
}

void FileWatch::Open(SessionId session, File& file) {
  UniqueFd fd(::open(file.path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  UniqueFd growth(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!SizeOf(fd) || ::inotify_add_watch(growth.get(), file.path.c_str(), IN_MODIFY) < 0) return;
  auto watch = loop_.Watch(growth.get(), EPOLLIN | EPOLLET,
                           [this, session, &file](uint32_t) { OnGrowth(session, file); });
  if (!watch) return;
  file.fd = std::move(fd);
  file.growth = std::move(growth);
  file.on_growth = *std::move(watch);
}

void FileWatch::OnGrowth(SessionId session, File& file) {
  alignas(inotify_event) std::array<char, 4096> events;
  while (::read(file.growth.get(), events.data(), events.size()) > 0) continue;
  LookAt(session, file);
}

void FileWatch::MarkUnknown(SessionId session) {
  log_.MarkInexact(
      {.reason = InexactReason::kReads,
       .session = session,
       .detail = "its file cannot be watched: when the service read is not in the log"});
}

void FileWatch::Log(SessionId session, std::optional<uint64_t> size,
                    std::optional<uint64_t> own_bytes) {
  log_.Append(ReadPass{.max_bytes = ServiceReads::kFilePassBytes,
                       .reason = ReadReason::kFile,
                       .session = session,
                       .file_bytes = size,
                       .own_bytes = own_bytes});
  flushes_.OnRead(session);
}

void FileWatch::LookAt(SessionId session, File& file) {
  const bool is_unordered = std::exchange(file.is_unordered, false);
  const std::optional<uint64_t> size = SizeOf(file.fd);
  if (!size || *size == file.size) return;
  const uint64_t before = std::exchange(file.size, *size);
  const EventLoop::Clock::time_point now = EventLoop::Clock::now();
  if (!file.shows_ends && now - std::exchange(file.grown, now) >= kOneRead) file.is_within = false;
  // Of much at once only the end is searched.
  const uint64_t from = *size - std::min(*size - before, kMostOwnBytes);
  const auto tail = BytesAt(file.fd, from);
  const ReadsIn reads = FindReads(wire::AsText(tail), file.shows_ends);
  const bool continues = file.is_within;
  const uint64_t seen = reads.ends + (reads.begins ? 1 : 0);
  const uint64_t begun = seen - (continues && seen > 0 ? 1 : 0);
  file.is_within = reads.begins || (reads.ends == 0 && continues);
  if (begun == 0) return;
  Log(session, *size,
      continues ? std::nullopt : std::optional(OwnBytesIn(BytesAt(file.fd, before))));
  for (uint64_t i = 1; i < begun; ++i) Log(session, *size);
  if (begun > 1 || is_unordered) {
    log_.MarkInexact({.reason = InexactReason::kReads,
                      .session = session,
                      .detail = "whether some requests were handled before or after a read for its "
                                "file is not known"});
  }
}

void FileWatch::Look() {
  for (auto& [session, file] : files_) {
    if (!file.fd.valid()) Open(session, file);
    LookAt(session, file);
  }
}

void FileWatch::NoteUnordered(const std::set<BufferId>& buffers) {
  for (auto& [session, file] : files_) {
    const auto is_read = [&, id_of = session](BufferId id) {
      return buffers_.OwnerOf(id) == id_of;
    };
    file.is_unordered =
        file.is_unordered || (std::ranges::any_of(buffers, is_read) && HasInput(file.growth.get()));
  }
}

void FileWatch::End(SessionId session, bool is_freed) {
  const auto found = files_.find(session);
  if (found == files_.end()) return;
  if (!found->second.fd.valid())
    MarkUnknown(session);  // a name that means nothing here
  else if (is_freed)
    Log(session, std::nullopt);
  else
    LookAt(session, found->second);
  files_.erase(found);
}

}  // namespace ringscope
