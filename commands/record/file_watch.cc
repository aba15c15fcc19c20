#include "commands/record/file_watch.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "commands/record/consumer_tap.h"
#include "core/log/service_reads.h"
#include "core/perfetto/fields.h"
#include "formats/io/descriptor_io.h"

namespace ringscope {
namespace {

/// Bytes of a read in which the service's own packets are looked for at once.
constexpr uint64_t kMostOwnBytes = 256 * 1024;
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

/// Returns what is written from there on, at most so many bytes.
std::vector<uint8_t> BytesAt(const UniqueFd& file, uint64_t offset, uint64_t most = kMostOwnBytes) {
  std::vector<uint8_t> bytes(most);
  bytes.resize(ReadAllAt(file.get(), offset, bytes).value_or(0));
  return bytes;
}

/// The ends and beginnings of reads, as packets of the file show them.
struct ReadsIn {
  uint64_t ends = 0;
  bool begins = false;  // after the last end, another read begins
};

/// @param at where to begin to look; set to where the next packet begins that is not complete yet
ReadsIn FindReads(const UniqueFd& file, uint64_t& at, uint64_t size) {
  ReadsIn reads;
  for (uint64_t most = kMostOwnBytes; at < size;) {
    const uint64_t taken = std::min(size - at, most);
    const auto bytes = BytesAt(file, at, taken);
    const uint64_t before = at;
    wire::FieldReader packets(bytes);
    while (const auto packet = packets.Next()) {
      at += packet->whole.size();
      const auto event = wire::LastBytes(packet->bytes, proto::TracePacket::kServiceEvent);
      if (event &&
          wire::LastVarint(*event, proto::TracingServiceEvent::kReadTracingBuffersCompleted)) {
        ++reads.ends;
        reads.begins = false;
      } else {  // other events, and statistics, are at the end of a read and begin none
        reads.begins |= !event && !wire::LastBytes(packet->bytes, proto::TracePacket::kTraceStats);
      }
    }
    if (at == before && taken == size - at) break;
    most = at == before ? size - at : kMostOwnBytes;
  }
  return reads;
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
  const uint64_t before = file.size;
  ReadsIn reads{.begins = true};
  if (file.shows_ends) {
    reads = FindReads(file.fd, file.size, *size);
  } else {
    const EventLoop::Clock::time_point now = EventLoop::Clock::now();
    if (now - std::exchange(file.grown, now) >= kOneRead) file.is_within = false;
    file.size = *size;
  }
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
