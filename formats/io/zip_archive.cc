#include "formats/io/zip_archive.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <utility>

#include "core/base/wire.h"

namespace ringscope {
namespace {

/// Returns libzip's text for an error code.
std::string ErrorText(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

tl::unexpected<Error> MemberError(const std::string& path, const zip_error_t* error) {
  const int code = zip_error_code_zip(error);
  if (code == ZIP_ER_NOPASSWD || code == ZIP_ER_WRONGPASSWD)
    return Fail(ErrorCode::kCorrupt, "the member of the zip archive is encrypted", {path, {}, {}},
                "extract it with its password, and name the extracted file");
  return Fail(ErrorCode::kCorrupt,
              fmt::format("the member of the zip archive cannot be read: {}", ErrorText(code)),
              {path, {}, {}}, "the archive is damaged, or its compression is not supported");
}

class MemberSource : public ByteSource {
 public:
  MemberSource(std::shared_ptr<zip_t> archive, zip_file_t* file, std::string path,
               std::optional<uint64_t> size)
      : archive_(std::move(archive)), file_(file), path_(std::move(path)), size_(size) {}

  const std::string& path() const override { return path_; }
  std::optional<uint64_t> size() const override { return size_; }

 private:
  struct CloseMember {
    void operator()(zip_file_t* file) const { static_cast<void>(zip_fclose(file)); }
  };

  Result<size_t> ReadNext(std::span<uint8_t> into) override {
    const zip_int64_t got = zip_fread(file_.get(), into.data(), into.size());
    if (got >= 0) return static_cast<size_t>(got);
    return MemberError(path_, zip_file_get_error(file_.get()));
  }

  const std::shared_ptr<zip_t> archive_;
  const std::unique_ptr<zip_file_t, CloseMember> file_;  // closed before the archive
  const std::string path_;
  const std::optional<uint64_t> size_;
};

}  // namespace

bool IsZip(Bytes start) {
  const std::string_view text = wire::AsText(start.first(std::min<size_t>(start.size(), 4)));
  return text == "PK\x03\x04" || text == "PK\x05\x06";
}

Result<ZipArchive> ZipArchive::Open(const std::string& file, const std::string& name) {
  int code = 0;
  if (zip_t* const archive = zip_open(file.c_str(), ZIP_RDONLY, &code))
    return ZipArchive(archive, name);
  return Fail(ErrorCode::kCorrupt,
              fmt::format("the zip archive cannot be read: {}", ErrorText(code)), {name, {}, {}},
              "the file is damaged or cut off: copy it again");
}

ZipArchive::ZipArchive(zip_t* archive, std::string name)
    : name_(std::move(name)), archive_(archive, zip_discard) {
  const auto count = static_cast<uint64_t>(zip_get_num_entries(archive, 0));
  for (uint64_t index = 0; index < count; ++index) {
    const char* const member = zip_get_name(archive, index, 0);
    if (member != nullptr && !std::string_view(member).ends_with('/'))
      members_.push_back({member, index});
  }
}

Result<std::unique_ptr<ByteSource>> ZipArchive::OpenMember(const ZipMember& member) {
  std::string path = fmt::format("{}:{}", name_, member.name);
  zip_file_t* const file = zip_fopen_index(archive_.get(), member.index, 0);
  if (file == nullptr) return MemberError(path, zip_get_error(archive_.get()));
  zip_stat_t stat;
  zip_stat_init(&stat);
  std::optional<uint64_t> size;
  if (zip_stat_index(archive_.get(), member.index, 0, &stat) == 0 &&
      (stat.valid & ZIP_STAT_SIZE) != 0)
    size = stat.size;
  return std::make_unique<MemberSource>(archive_, file, std::move(path), size);
}

}  // namespace ringscope
