#include "formats/io/zip_archive.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "core/base/wire.h"

namespace ringscope {
namespace {

/// The bytes that libzip reads an archive from.
struct ArchiveBytes {
  const std::unique_ptr<ByteSource> source;
  uint64_t at = 0;
  zip_error_t error{};
  std::optional<Error> failure = {};  // of the last read; libzip itself keeps a number alone

  static zip_int64_t Answer(void* self, void* data, zip_uint64_t size, zip_source_cmd_t command) {
    return static_cast<ArchiveBytes*>(self)->Do(data, size, command);
  }

  zip_int64_t Do(void* data, zip_uint64_t size, zip_source_cmd_t command) {
    const uint64_t file_size = source->size().value_or(0);
    switch (command) {
      case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                              ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
                                              ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, -1);
      case ZIP_SOURCE_OPEN:
        at = 0;
        return 0;
      case ZIP_SOURCE_READ:
        return Read({static_cast<uint8_t*>(data), size});
      case ZIP_SOURCE_SEEK: {
        const zip_int64_t to = zip_source_seek_compute_offset(at, file_size, data, size, &error);
        if (to >= 0) at = static_cast<uint64_t>(to);
        return to < 0 ? -1 : 0;
      }
      case ZIP_SOURCE_TELL:
        return static_cast<zip_int64_t>(at);
      case ZIP_SOURCE_STAT: {
        auto* const stat = static_cast<zip_stat_t*>(data);
        zip_stat_init(stat);
        stat->size = file_size;
        stat->valid |= ZIP_STAT_SIZE;
        return sizeof *stat;
      }
      case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&error, data, size);
      case ZIP_SOURCE_CLOSE:
      case ZIP_SOURCE_FREE:
        return 0;
      default:
        zip_error_set(&error, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
  }

  zip_int64_t Read(std::span<uint8_t> into) {
    failure.reset();
    const auto got = source->ReadAt(at, into);
    if (!got) {
      failure = got.error();
      zip_error_set(&error, ZIP_ER_READ, 0);
      return -1;
    }
    at += *got;
    return static_cast<zip_int64_t>(*got);
  }
};

/// Returns libzip's words for an error, which it frees.
std::string WordsOf(zip_error_t error) {
  std::string words = zip_error_strerror(&error);
  zip_error_fini(&error);
  return words;
}

struct DiscardArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseMember {
  void operator()(zip_file_t* file) const { static_cast<void>(zip_fclose(file)); }
};

class LibzipArchive : public ZipArchive, public std::enable_shared_from_this<LibzipArchive> {
 public:
  explicit LibzipArchive(std::unique_ptr<ByteSource> source) : bytes_{std::move(source)} {}

  Status Start() {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* const source = zip_source_function_create(&ArchiveBytes::Answer, &bytes_, &error);
    if (source != nullptr) archive_.reset(zip_open_from_source(source, ZIP_RDONLY, &error));
    const std::string why = WordsOf(error);
    if (archive_ == nullptr) {
      if (source != nullptr) zip_source_free(source);
      if (bytes_.failure) return tl::unexpected<Error>(*bytes_.failure);
      return Fail(ErrorCode::kCorrupt, fmt::format("the zip archive cannot be read: {}", why),
                  {bytes_.source->path(), {}, {}}, "the file is damaged or cut off: copy it again");
    }
    const auto count = static_cast<uint64_t>(zip_get_num_entries(archive_.get(), 0));
    for (uint64_t index = 0; index < count; ++index) {
      const char* const name = zip_get_name(archive_.get(), index, 0);
      if (name != nullptr && !std::string_view(name).ends_with('/'))
        members_.push_back({name, index});
    }
    return {};
  }

  const std::vector<ZipMember>& members() const override { return members_; }
  Result<std::unique_ptr<ByteSource>> OpenMember(const ZipMember& member) override;

  Error MemberError(const std::string& path, const zip_error_t* error) const {
    if (bytes_.failure) return *bytes_.failure;
    const int code = zip_error_code_zip(error);
    if (code == ZIP_ER_NOPASSWD || code == ZIP_ER_WRONGPASSWD)
      return Error{ErrorCode::kCorrupt,
                   "the member of the zip archive is encrypted",
                   {path, {}, {}},
                   "extract it with its password, and name the extracted file"};
    zip_error_t copy;
    zip_error_init_with_code(&copy, code);
    return Error{ErrorCode::kCorrupt,
                 fmt::format("the member of the zip archive cannot be read: {}", WordsOf(copy)),
                 {path, {}, {}},
                 "the archive is damaged, or its compression is not supported"};
  }

 private:
  ArchiveBytes bytes_;  // outlives the archive
  std::unique_ptr<zip_t, DiscardArchive> archive_;
  std::vector<ZipMember> members_;
};

class MemberSource : public ByteSource {
 public:
  MemberSource(std::shared_ptr<LibzipArchive> archive, zip_file_t* file, std::string path,
               std::optional<uint64_t> size)
      : archive_(std::move(archive)), file_(file), path_(std::move(path)), size_(size) {}

  Result<size_t> Read(std::span<uint8_t> into) override {
    const zip_int64_t got = zip_fread(file_.get(), into.data(), into.size());
    if (got >= 0) return static_cast<size_t>(got);
    return tl::unexpected<Error>(archive_->MemberError(path_, zip_file_get_error(file_.get())));
  }
  const std::string& path() const override { return path_; }
  std::optional<uint64_t> size() const override { return size_; }

 private:
  const std::shared_ptr<LibzipArchive> archive_;
  const std::unique_ptr<zip_file_t, CloseMember> file_;  // closed before the archive
  const std::string path_;
  const std::optional<uint64_t> size_;
};

Result<std::unique_ptr<ByteSource>> LibzipArchive::OpenMember(const ZipMember& member) {
  std::string path = fmt::format("{}:{}", bytes_.source->path(), member.name);
  zip_file_t* const file = zip_fopen_index(archive_.get(), member.index, 0);
  if (file == nullptr)
    return tl::unexpected<Error>(MemberError(path, zip_get_error(archive_.get())));
  zip_stat_t stat;
  zip_stat_init(&stat);
  std::optional<uint64_t> size;
  if (zip_stat_index(archive_.get(), member.index, 0, &stat) == 0 &&
      (stat.valid & ZIP_STAT_SIZE) != 0)
    size = stat.size;
  return std::make_unique<MemberSource>(shared_from_this(), file, std::move(path), size);
}

}  // namespace

bool IsZip(Bytes start) {
  const std::string_view text = wire::AsText(start.first(std::min<size_t>(start.size(), 4)));
  return text == "PK\x03\x04" || text == "PK\x05\x06";
}

Result<std::shared_ptr<ZipArchive>> ZipArchive::Open(std::unique_ptr<ByteSource> source) {
  auto archive = std::make_shared<LibzipArchive>(std::move(source));
  RS_RETURN_IF_ERROR(archive->Start());
  return archive;
}

}  // namespace ringscope
