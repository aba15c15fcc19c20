#include "formats/io/byte_stream.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "core/base/wire.h"
#include "formats/io/made_ahead.h"
#include "formats/io/output_file.h"

namespace ringscope {

WriteOutcome WriteAll(int fd, Bytes bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (written >= 0)
      done += static_cast<size_t>(written);
    else if (errno != EINTR)
      return {done, errno};
  }
  return {done, 0};
}

std::optional<size_t> ReadAllAt(int fd, uint64_t offset, std::span<uint8_t> into) {
  size_t done = 0;
  while (done < into.size()) {
    const ssize_t got =
        ::pread(fd, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (got == 0) break;
    if (got > 0)
      done += static_cast<size_t>(got);
    else if (errno != EINTR)
      return std::nullopt;
  }
  return done;
}

tl::unexpected<Error> SystemError(const std::string& what, int error, const std::string& path,
                                  std::string hint) {
  return Fail(ErrorCode::kIo, fmt::format("{}: {}", what, std::strerror(error)), {path, {}, {}},
              std::move(hint));
}

namespace {

class FunctionSource : public ByteSource {
 public:
  FunctionSource(ReadFn read, ReadAtFn read_at, std::string path, std::optional<uint64_t> size)
      : read_(std::move(read)), read_at_(std::move(read_at)), path_(std::move(path)), size_(size) {}

  Result<size_t> ReadNext(std::span<uint8_t> into) override { return read_(into); }
  Result<size_t> ReadAt(uint64_t offset, std::span<uint8_t> into) override {
    return read_at_ ? read_at_(offset, into) : ByteSource::ReadAt(offset, into);
  }
  bool CanReadAt() const override { return read_at_ != nullptr; }
  const std::string& path() const override { return path_; }
  std::optional<uint64_t> size() const override { return size_; }

 private:
  const ReadFn read_;
  const ReadAtFn read_at_;
  const std::string path_;
  const std::optional<uint64_t> size_;
};

/// Reads the next bytes of a file.
ReadFn ReadsOf(int fd, const std::string& path) {
  return [fd, path](std::span<uint8_t> into) -> Result<size_t> {
    while (true) {
      const ssize_t got = ::read(fd, into.data(), into.size());
      if (got >= 0) return static_cast<size_t>(got);
      if (errno != EINTR) return SystemError("cannot read", errno, path);
    }
  };
}

}  // namespace

Result<size_t> ByteSource::Read(std::span<uint8_t> into) {
  if (peeked_.empty()) return ReadNext(into);
  const size_t count = peeked_.copy(reinterpret_cast<char*>(into.data()), into.size());
  peeked_.erase(0, count);
  return count;
}

Result<std::string> ByteSource::Peek(size_t size) {
  while (peeked_.size() < size) {
    const size_t before = peeked_.size();
    peeked_.resize(size);
    const Result<size_t> got =
        ReadNext({reinterpret_cast<uint8_t*>(peeked_.data()) + before, size - before});
    peeked_.resize(before + got.value_or(0));
    if (!got && before == 0) return tl::unexpected(got.error());
    if (got.value_or(0) == 0) break;
  }
  return peeked_.substr(0, size);
}

Result<size_t> ByteSource::ReadAt(uint64_t offset, std::span<uint8_t>) {
  return Fail(ErrorCode::kUsage, "this input can only be read from its start to its end",
              {path(), offset, {}});
}

Result<std::unique_ptr<ByteSource>> OpenByteSource(const std::string& path) {
  if (path.empty()) return Fail(ErrorCode::kUsage, "a file needs a name, and this one is empty");
  // Standard input is read as a stream even if it is a file: its position may be anywhere.
  struct stat info {};
  if (path == "-") {
    if (::fstat(STDIN_FILENO, &info) == 0) RunFiles::AddInput(info, path);
    return MakeSource(ReadsOf(STDIN_FILENO, path), path);
  }

  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return SystemError("cannot open", errno, path,
                       errno == ENOENT   ? "check the name; \"-\" reads standard input"
                       : errno == EACCES ? "check the file's permissions"
                                         : "");
  }
  // The last function that has the descriptor closes it.
  const std::shared_ptr<void> open_file(nullptr, [fd](void*) { ::close(fd); });
  if (::fstat(fd, &info) != 0) return SystemError("cannot get the status of", errno, path);
  if (S_ISDIR(info.st_mode))
    return Fail(ErrorCode::kIo, "this is a folder, expected a file", {path, {}, {}},
                "name one of its files; doctor and report take folders");
  RunFiles::AddInput(info, path);
  const auto read = [open_file, read = ReadsOf(fd, path)](auto into) { return read(into); };
  if (!S_ISREG(info.st_mode)) return MakeSource(read, path);
  const auto read_at = [open_file, fd, path](uint64_t offset, auto into) -> Result<size_t> {
    const std::optional<size_t> got = ReadAllAt(fd, offset, into);
    if (!got) return SystemError("cannot read", errno, path);
    return *got;
  };
  return std::make_unique<FunctionSource>(read, read_at, path, static_cast<uint64_t>(info.st_size));
}

std::unique_ptr<ByteSource> MakeSource(ReadFn read, std::string path,
                                       std::optional<uint64_t> size) {
  return std::make_unique<FunctionSource>(std::move(read), nullptr, std::move(path), size);
}

std::unique_ptr<ByteSource> MakeSourceAt(ReadAtFn read_at, uint64_t size, std::string path) {
  const auto read = [read_at, position = uint64_t{0}](std::span<uint8_t> into) mutable {
    Result<size_t> count = read_at(position, into);
    position += count.value_or(0);
    return count;
  };
  return std::make_unique<FunctionSource>(read, std::move(read_at), std::move(path), size);
}

std::unique_ptr<ByteSource> MakeViewSource(Bytes bytes, std::string path,
                                           std::shared_ptr<const std::string> owner) {
  const auto copy = [bytes, owner = std::move(owner)](uint64_t offset, std::span<uint8_t> into) {
    const Bytes rest = bytes.subspan(std::min<uint64_t>(offset, bytes.size()));
    const size_t count = std::min(into.size(), rest.size());
    std::copy_n(rest.begin(), count, into.begin());
    return count;
  };
  return MakeSourceAt(copy, bytes.size(), std::move(path));
}

std::unique_ptr<ByteSource> MakeMemorySource(std::string bytes, std::string path) {
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  const Bytes view = wire::AsBytes(*owner);
  return MakeViewSource(view, std::move(path), std::move(owner));
}

size_t ReadBytesFor(const ByteSource& source) {
  constexpr uint64_t kLeast = 4096;  // a file's size need not be true
  const uint64_t size = source.size().value_or(kReadBytes);
  // With a byte more, the end shows without a larger buffer.
  return size < kReadBytes ? static_cast<size_t>(std::max(size + 1, kLeast)) : kReadBytes;
}

Result<std::string> ReadAll(ByteSource& source, size_t max_bytes) {
  std::string all;
  std::vector<uint8_t> part(ReadBytesFor(source));
  while (true) {
    RS_ASSIGN_OR_RETURN(const size_t size, source.Read(part));
    if (size == 0) return all;
    all.append(reinterpret_cast<const char*>(part.data()), size);
    if (all.size() > max_bytes)
      return Fail(ErrorCode::kLimit, fmt::format("more than {} bytes", max_bytes),
                  {source.path(), {}, {}});
  }
}

Status CopyBytes(ByteSource& source, ByteSink& sink, uint64_t most) {
  std::vector<uint8_t> part(ReadBytesFor(source));
  while (most > 0) {
    const size_t wanted = std::min<uint64_t>(most, part.size());
    RS_ASSIGN_OR_RETURN(const size_t size, source.Read(std::span(part).first(wanted)));
    if (size == 0) break;
    most -= size;
    RS_RETURN_IF_ERROR(sink.Write(Bytes(part.data(), size)));
  }
  return {};
}

std::unique_ptr<ByteSource> MakeCopiedSource(std::unique_ptr<ByteSource> source, ByteSink& copy) {
  const std::shared_ptr<ByteSource> inner = std::move(source);
  const auto read = [inner, &copy](std::span<uint8_t> into) -> Result<size_t> {
    RS_ASSIGN_OR_RETURN(const size_t count, inner->Read(into));
    RS_RETURN_IF_ERROR(copy.Write(Bytes(into.first(count))));
    return count;
  };
  return MakeSource(read, inner->path(), inner->size());
}

std::unique_ptr<ByteSource> MakeReadAheadSource(std::unique_ptr<ByteSource> source) {
  // Many: one that reads ahead must not wait whenever what is read is put to use in bursts.
  static constexpr size_t kBlocks = 16, kBlockBytes = size_t{512} << 10;
  struct Block {
    /// An array in place of a vector: bytes that are not read take no memory.
    std::unique_ptr<uint8_t[]> bytes = std::make_unique_for_overwrite<uint8_t[]>(kBlockBytes);
    Result<size_t> size = size_t{0};
  };
  using Blocks = MadeAhead<Block>;
  const std::shared_ptr<ByteSource> inner = std::move(source);
  const auto blocks = std::make_shared<Blocks>(kBlocks, [inner](Block& block) {
    block.size = inner->Read({block.bytes.get(), kBlockBytes});
    return Blocks::Made{.last = !block.size || *block.size == 0};
  });
  const auto read = [blocks, block = static_cast<Block*>(nullptr),
                     used = size_t{0}](std::span<uint8_t> into) mutable -> Result<size_t> {
    if (into.empty()) return size_t{0};
    if (block == nullptr) block = &blocks->Next();
    if (!block->size) return block->size;  // an error stays, and so does the end
    const size_t count = std::min(into.size(), *block->size - used);
    std::memcpy(into.data(), block->bytes.get() + used, count);
    used += count;
    if (used == *block->size) {
      used = 0;
      block = nullptr;
    }
    return count;
  };
  return MakeSource(read, inner->path(), inner->size());
}

Status ByteSink::Write(std::string_view text) { return Write(wire::AsBytes(text)); }

Result<bool> ByteWindow::Fill(size_t size) {
  while (end_ - begin_ < size && !at_end_) {
    if (failure_) return tl::unexpected(*failure_);
    if (begin_ > 0 && begin_ + std::max(size, read_bytes_) > capacity_) {
      std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    if (end_ == capacity_) GrowFor(size);
    const Result<size_t> got = source_->Read({buffer_.get() + end_, capacity_ - end_});
    if (!got) {
      failure_ = got.error();
      continue;
    }
    at_end_ = *got == 0;
    end_ += *got;
  }
  return end_ - begin_ >= size;
}

/// Doubles the buffer, but not beyond what is asked for: a claimed size takes no memory. Growth by
/// single bytes is rounded up to an eighth.
void ByteWindow::GrowFor(size_t size) {
  const size_t needed = begin_ + std::max(size, read_bytes_);
  const size_t capacity =
      std::max({read_bytes_, capacity_ + capacity_ / 8, std::min(2 * capacity_, needed)});
  void* const grown = std::realloc(buffer_.get(), capacity);
  if (grown == nullptr) throw std::bad_alloc();
  static_cast<void>(buffer_.release());
  buffer_.reset(static_cast<uint8_t*>(grown));
  capacity_ = capacity;
}

Result<std::optional<std::string_view>> LineReader::Next() {
  window_.Drop(std::exchange(returned_, 0));
  if (in_long_line_) RS_RETURN_IF_ERROR(SkipLine());
  start_ = window_.offset();
  ++number_;
  size_t searched = 0;
  while (true) {
    const std::string_view text = wire::AsText(window_.bytes());
    const size_t found = text.find('\n', searched);
    if (std::min(found, text.size()) > max_line_) {
      in_long_line_ = true;
      return Fail(ErrorCode::kLimit,
                  fmt::format("the line is longer than {} bytes, the longest supported", max_line_),
                  Here());
    }
    if (found != std::string_view::npos) {
      returned_ = found + 1;
      return text.substr(0, found);
    }
    searched = text.size();
    RS_ASSIGN_OR_RETURN(const bool more, window_.Fill(searched + 1));
    if (more) continue;
    if (searched == 0) return std::nullopt;
    returned_ = searched;  // the last line may lack its line break
    return wire::AsText(window_.bytes());
  }
}

/// Moves to the line after the one that was too long.
Status LineReader::SkipLine() {
  while (true) {
    const size_t found = wire::AsText(window_.bytes()).find('\n');
    if (found != std::string_view::npos) {
      window_.Drop(found + 1);
      break;
    }
    window_.Drop(window_.size());
    RS_ASSIGN_OR_RETURN(const bool more, window_.Fill(1));
    if (!more) break;
  }
  in_long_line_ = false;
  return {};
}

bool IsBlankOrComment(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t\r");
  return first == std::string_view::npos || line[first] == '#';
}

}  // namespace ringscope
