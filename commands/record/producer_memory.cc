#include "commands/record/producer_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "core/perfetto/fields.h"
#include "core/perfetto/memory_picture.h"
#include "formats/io/byte_stream.h"

namespace ringscope {
namespace {

/// Fragments that a chunk needs to be scraped while it is being written: the last is not whole.
constexpr uint16_t kMinFragments = 2;
/// Looks take at most one of so many parts of the time.
constexpr int kShareOfLooks = 20;
/// Pauses between looks while nothing passes and chunks are in use.
constexpr std::chrono::milliseconds kFirstPause{1};
constexpr std::chrono::milliseconds kLongestPause{64};

/// Longest time of a look that counts. A longer one was interrupted: the time is another thread's.
constexpr std::chrono::nanoseconds LongestLook(size_t pages) {
  return std::chrono::microseconds(10) + pages * std::chrono::nanoseconds(250);
}

/// A writer uses a chunk id again only after 2^32 others.
bool IsSameChunk(const std::optional<ChunkHeader>& committed, const ChunkHeader& header) {
  return committed && committed->chunk == header.chunk && committed->writer == header.writer;
}

size_t PagesToLookAt(const ProducerMemory& memory) {
  const uint64_t pages = memory.page_count();
  return pages <= smb::kMaxPagesOfPicture ? static_cast<size_t>(pages) : 0;
}

}  // namespace

Result<std::unique_ptr<SharedMemory>> SharedMemory::Open(const UniqueFd& fd) {
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0)
    return SystemError("sent shared memory that cannot be examined", errno, "");
  const auto size = static_cast<size_t>(info.st_size);
  if (info.st_size <= 0 || size > kMaxBytes) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("sent shared memory of {} bytes, 1 to {} are possible", info.st_size,
                            kMaxBytes));
  }
  UniqueFd own = fd.Duplicate();
  if (!own.valid()) return SystemError("cannot keep a descriptor", errno, "");
  const int seals = ::fcntl(own.get(), F_GET_SEALS);
  void* mapped = MAP_FAILED;
  if (seals >= 0 && (seals & F_SEAL_SHRINK) != 0)
    mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, own.get(), 0);
  const auto* const memory = mapped == MAP_FAILED ? nullptr : static_cast<const uint8_t*>(mapped);
  return std::unique_ptr<SharedMemory>(new SharedMemory(std::move(own), size, memory));
}

SharedMemory::~SharedMemory() {
  if (mapped_ != nullptr) ::munmap(const_cast<uint8_t*>(mapped_), size_);
}

bool SharedMemory::Read(size_t offset, std::span<uint8_t> into) const {
  if (offset > size_ || into.size() > size_ - offset) return false;
  const bool is_whole = mapped_ == nullptr
                            ? ReadAllAt(fd_.get(), offset, into) == into.size()
                            : std::memcpy(into.data(), mapped_ + offset, into.size()) != nullptr;
  // Bytes that are read first must be those that were there first: a producer writes a chunk's
  // header last, with release order, so bytes read after the header are at least as new as it.
  std::atomic_thread_fence(std::memory_order_acquire);
  return is_whole;
}

ProducerMemory::ProducerMemory(std::unique_ptr<smb::Memory> memory, size_t page_bytes)
    : memory_(std::move(memory)),
      pages_(*memory_, page_bytes),
      slots_(static_cast<size_t>(pages_.count()) * smb::kMaxChunksPerPage) {}

ProducerMemory::Slot& ProducerMemory::SlotAt(smb::ChunkPlace place) {
  return slots_[static_cast<size_t>(place.page) * smb::kMaxChunksPerPage +
                static_cast<size_t>(place.chunk)];
}

void ProducerMemory::OnNewWriter(WriterId writer) {
  for (Slot& slot : slots_)
    if (slot.committed && slot.committed->writer == writer) slot.committed.reset();
}

bool ProducerMemory::TakeCommitted(smb::ChunkPlace place, std::string& out) {
  const size_t before = out.size();
  if (!pages_.AppendComplete(place, out)) return false;
  const ChunkHeader header =
      *ParseChunkHeader(wire::AsBytes(out).subspan(before, kChunkHeaderSize));
  Slot& slot = SlotAt(place);
  if (IsSameChunk(slot.committed, header)) {
    out.resize(before);
    return false;
  }
  slot.committed = header;
  return true;
}

std::vector<smb::FoundChunk> ProducerMemory::ScrapeChunks(
    const std::map<WriterId, BufferId>& writers, Scrape which, std::string& data) {
  const auto take = [&](const smb::FoundChunk& found) {
    if (!found.complete && found.header.fragments < kMinFragments) return false;
    if (!writers.contains(found.header.writer)) return false;
    const Slot& slot = SlotAt(found.place);
    if (IsSameChunk(slot.committed, found.header)) return false;
    return which == Scrape::kAll || slot.scraped != std::pair(found.header, found.complete);
  };
  std::vector<smb::FoundChunk> chunks;
  pages_.Scan(take, chunks, data);
  for (const smb::FoundChunk& found : chunks)
    SlotAt(found.place).scraped = {found.header, found.complete};
  return chunks;
}

Status CommitReader::Read(Bytes request, ProducerMemory* memory) {
  for_log_.clear();
  without_flush_.clear();
  from_memory_ = false;
  wire::FieldReader reader(request);
  while (const auto field = reader.Next()) {
    if (field->IsVarint(proto::CommitDataRequest::kFlushRequestId)) continue;
    without_flush_ += wire::AsText(field->whole);
    if (field->IsBytes(proto::CommitDataRequest::kChunksToMove))
      RS_RETURN_IF_ERROR(ReadChunk(*field, memory));
    else
      for_log_ += wire::AsText(field->whole);
  }
  if (reader.ok()) return {};
  return Fail(ErrorCode::kCorrupt, "sent a commit that is not well-formed protobuf");
}

Status CommitReader::ReadChunk(const wire::Field& field, ProducerMemory* memory) {
  using Fields = proto::CommitDataRequest::ChunksToMove;
  smb::ChunkPlace place;
  std::optional<size_t> data;
  for (const wire::Field& part : wire::FieldReader(field.bytes)) {
    if (part.IsVarint(Fields::kPage)) place.page = part.value;
    if (part.IsVarint(Fields::kChunk)) place.chunk = part.value;
    if (!part.IsBytes(Fields::kData)) continue;
    data = part.bytes.size();
    // Some of these sizes would abort the service: none is passed on.
    if (*data < kChunkHeaderSize || *data > kMaxChunkData) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("sent a chunk of {} bytes, {} to {} are possible", *data,
                              kChunkHeaderSize, kMaxChunkData));
    }
  }
  chunk_.clear();
  if (data || memory == nullptr || !memory->TakeCommitted(place, chunk_)) {
    for_log_ += wire::AsText(field.whole);
    return {};
  }
  const size_t data_bytes = wire::UintFieldSize(Fields::kData, chunk_.size()) + chunk_.size();
  wire::AppendTag(for_log_, proto::CommitDataRequest::kChunksToMove, wire::Type::kBytes);
  wire::AppendVarint(for_log_, field.bytes.size() + data_bytes);
  for_log_ += wire::AsText(field.bytes);
  wire::AppendBytes(for_log_, Fields::kData, wire::AsBytes(chunk_));
  from_memory_ = true;
  return {};
}

MemoryWatch::MemoryWatch(const ProducerMemory& memory, ProducerId producer, RecordSink& log,
                         EventLoop& loop, Clock::time_point& from)
    : memory_(memory),
      producer_(producer),
      log_(log),
      loop_(loop),
      from_(from),
      last_(PagesToLookAt(memory)),
      now_(PagesToLookAt(memory)),
      lost_(now_.pages().empty()) {}

void MemoryWatch::LookIfDue() {
  const Clock::time_point now = Clock::now();
  if (memory_.is_unlogged())
    LookAt(std::max(now + kFirstPause, from_));
  else if (now >= from_)
    LookNow();
  else if (next_ && *next_ < from_)
    LookAt(from_);
}

void MemoryWatch::LookNow(bool always) {
  next_.reset();
  timer_.reset();
  const Clock::time_point begin = Clock::now();
  lost_ = lost_ || !memory_.Look(now_);
  if (lost_) return;
  changes_.clear();
  smb::AppendChanges(last_, now_, changes_);
  const bool changed = !changes_.empty() || looks_ == 0;
  if (changed || always) {
    SharedMemoryLook look{.producer = producer_,
                          .number = looks_,
                          .whole = looks_ % kWholeEvery == 0,
                          .same_until_ns = std::exchange(same_until_ns_, std::nullopt)};
    if (look.whole)
      smb::AppendChanges(smb::MemoryPicture(now_.pages().size()), now_, look.pages);
    else
      look.pages = changes_;
    ++looks_;
    log_.Append(std::move(look));
    std::swap(last_, now_);
  } else {
    same_until_ns_ = BootTimeNs();
  }
  const Clock::time_point end = Clock::now();
  const auto took = std::min<Clock::duration>(end - begin, LongestLook(last_.pages().size()));
  from_ = begin + took * kShareOfLooks;
  pause_ = changed ? kFirstPause : std::min<Clock::duration>(pause_ * 2, kLongestPause);
  if (last_.Count().used() > 0) LookAt(std::max(end + pause_, from_));
}

void MemoryWatch::LookAt(Clock::time_point time) {
  next_ = time;
  timer_ = loop_.CallAt(time, [this] { LookIfDue(); });
}

}  // namespace ringscope
