#include <fmt/format.h>
#include <zip.h>

#include <charconv>
#include <filesystem>

#include "core/base/text.h"
#include "core/base/wire.h"
#include "formats/inputs/input_kind.h"
#include "formats/inputs/recording.h"
#include "formats/io/compressed_source.h"

namespace ringscope {
namespace {

using Members = std::vector<ArchiveMember>;

constexpr size_t kTarBlock = 512, kTarMagic = 257;

bool IsZip(std::string_view start) {
  return start.starts_with("PK\x03\x04") || start.starts_with("PK\x05\x06");
}
bool IsTar(std::string_view start) {
  return start.size() >= kTarBlock && start.substr(kTarMagic).starts_with("ustar");
}

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

Result<std::unique_ptr<ByteSource>> OpenZipMember(const std::shared_ptr<zip_t>& archive,
                                                  uint64_t index, const std::string& path) {
  zip_file_t* const opened = zip_fopen_index(archive.get(), index, 0);
  if (opened == nullptr) return MemberError(path, zip_get_error(archive.get()));
  const std::shared_ptr<zip_file_t> file(opened, [archive](zip_file_t* closed) {
    static_cast<void>(zip_fclose(closed));  // before the archive
  });
  zip_stat_t stat;
  zip_stat_init(&stat);
  std::optional<uint64_t> size;
  if (zip_stat_index(archive.get(), index, 0, &stat) == 0 && (stat.valid & ZIP_STAT_SIZE) != 0)
    size = stat.size;
  const auto read = [file, path](std::span<uint8_t> into) -> Result<size_t> {
    const zip_int64_t got = zip_fread(file.get(), into.data(), into.size());
    if (got < 0) return MemberError(path, zip_file_get_error(file.get()));
    return static_cast<size_t>(got);
  };
  return MakeSource(read, path, size);
}

/// A name under which a source's bytes can be opened: its own, or that of a copy.
struct NamedFile {
  std::string name;
  std::shared_ptr<TemporaryFile> copy;  // nullptr: it is the source's own
};
Result<NamedFile> NameOf(ByteSource& source) {
  std::error_code error;
  if (source.CanReadAt() && std::filesystem::is_regular_file(source.path(), error))
    return NamedFile{source.path(), nullptr};
  RS_ASSIGN_OR_RETURN(std::shared_ptr<TemporaryFile> copy, SpoolInput(source));
  return NamedFile{copy->OwnName(), copy};
}

Result<Members> ZipMembers(ByteSource& source) {
  RS_ASSIGN_OR_RETURN(const NamedFile file, NameOf(source));
  int code = 0;
  zip_t* const opened = zip_open(file.name.c_str(), ZIP_RDONLY, &code);
  if (opened == nullptr)
    return Fail(ErrorCode::kCorrupt,
                fmt::format("the zip archive cannot be read: {}", ErrorText(code)),
                {source.path(), {}, {}}, "the file is damaged or cut off: copy it again");
  const std::shared_ptr<zip_t> archive(opened, zip_discard);
  const auto count = static_cast<uint64_t>(zip_get_num_entries(opened, 0));
  Members members;
  for (uint64_t index = 0; index < count; ++index) {
    const char* const name = zip_get_name(opened, index, 0);
    if (name == nullptr || std::string_view(name).ends_with('/')) continue;
    ArchiveMember& member = members.emplace_back();
    member.path = fmt::format("{}:{}", source.path(), name);
    member.open = [archive, index, path = member.path, copy = file.copy] {
      return OpenZipMember(archive, index, path);
    };
  }
  return members;
}

/// A text of a tar header, which ends at its first NUL.
std::string TarText(std::string_view block, size_t at, size_t size) {
  const std::string_view field = block.substr(at, size);
  return std::string(field.substr(0, field.find('\0')));
}

Result<Members> TarMembers(ByteSource& source) {
  constexpr size_t kName = 100, kSizeAt = 124, kSizeBytes = 12, kTypeAt = 156, kPrefixAt = 345,
                   kPrefixBytes = 155, kMostNameBytes = 4096;
  RS_ASSIGN_OR_RETURN(const NamedFile named, NameOf(source));
  RS_ASSIGN_OR_RETURN(std::shared_ptr<ByteSource> file, OpenByteSource(named.name));
  Members members;
  std::string long_name;
  const auto read = [&](uint64_t offset, size_t size) {
    std::string bytes(size, '\0');
    const auto got = file->ReadAt(offset, {reinterpret_cast<uint8_t*>(bytes.data()), size});
    bytes.resize(got.value_or(0));
    return bytes;
  };
  for (uint64_t at = 0;;) {
    const std::string block = read(at, kTarBlock);
    if (!IsTar(block)) break;  // the end has blocks of zeros
    uint64_t size = 0;
    const std::string digits = TarText(block, kSizeAt, kSizeBytes);
    const size_t first = std::min(digits.find_first_not_of(' '), digits.size());
    std::from_chars(digits.data() + first, digits.data() + digits.size(), size, 8);
    at += kTarBlock;
    const char type = block[kTypeAt];
    if (type == 'L') {  // the name of the next file
      long_name = TarText(read(at, std::min<uint64_t>(size, kMostNameBytes)), 0, kMostNameBytes);
    } else if (type == 'x') {  // "27 path=NAME\n"
      const std::string records = read(at, std::min<uint64_t>(size, kMostNameBytes));
      const size_t path = records.find(" path=");
      if (path != std::string::npos)
        long_name = records.substr(path + 6, records.find('\n', path) - path - 6);
    } else {
      const std::string prefix = TarText(block, kPrefixAt, kPrefixBytes);
      std::string name = (prefix.empty() ? "" : prefix + "/") + TarText(block, 0, kName);
      if (!long_name.empty()) name = std::exchange(long_name, {});
      if (type == '0' || type == '\0') {
        ArchiveMember& member = members.emplace_back();
        member.path = fmt::format("{}:{}", source.path(), name);
        const auto read_at = [file, at, size, copy = named.copy](
                                 uint64_t offset, std::span<uint8_t> into) -> Result<size_t> {
          const uint64_t left = size - std::min(offset, size);
          return file->ReadAt(at + offset, into.first(std::min<uint64_t>(into.size(), left)));
        };
        member.open = [read_at, size, path = member.path] {
          return MakeSourceAt(read_at, size, path);
        };
      }
    }
    at += (size + kTarBlock - 1) / kTarBlock * kTarBlock;
  }
  return members;
}

/// @param depth of archives in it that are searched
Result<Members> MembersOf(std::unique_ptr<ByteSource> source, int depth) {
  RS_ASSIGN_OR_RETURN(const std::string start, source->Peek(kKindBytes));
  if (auto content = MakeSourceFor(wire::AsBytes(start), source)) source = std::move(content);
  RS_ASSIGN_OR_RETURN(const std::string inner, source->Peek(kTarBlock));
  RS_ASSIGN_OR_RETURN(Members files, IsZip(inner) ? ZipMembers(*source) : TarMembers(*source));
  Members members;
  for (ArchiveMember& member : files) {
    auto opened = member.open();
    const std::string bytes = opened ? (*opened)->Peek(kKindBytes).value_or("") : "";
    if (depth > 0 && IsArchive(bytes)) {
      if (auto nested = MembersOf(*std::move(opened), depth - 1)) {
        std::ranges::move(*nested, std::back_inserter(members));
        continue;
      }
    }
    member.kind = KindOfStart(bytes);
    if (member.kind == InputKind::kOther) member.words = ContentWords(bytes);
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace

bool IsArchive(std::string_view start) {
  if (IsZip(start) || IsTar(start)) return true;
  std::unique_ptr<ByteSource> source = MakeMemorySource(std::string(start));
  const auto content = MakeSourceFor(wire::AsBytes(start), source);
  const std::string inner = content ? content->Peek(kTarBlock).value_or("") : "";
  return IsZip(inner) || IsTar(inner);
}

Result<std::vector<ArchiveMember>> MembersOf(std::unique_ptr<ByteSource> archive) {
  return MembersOf(std::move(archive), 1);
}

Error NoTraceIn(const std::string& archive, const std::vector<ArchiveMember>& members) {
  constexpr size_t kNamed = 3;
  std::vector<std::string> others;
  std::string where;  // to open them
  for (const ArchiveMember& member : members) {
    const std::string one = WhereOpened(member.words);
    if (one.empty() || others.size() == kNamed) continue;
    others.push_back(
        fmt::format("{} is {}", Printable(member.path.substr(archive.size() + 1)), member.words));
    where = one;
  }
  return {ErrorCode::kCorrupt,
          fmt::format("the archive has {}, and no Perfetto trace or log{}{}",
                      Count(members.size(), "file"), others.empty() ? "" : ": ", Joined(others)),
          {archive, {}, {}},
          where};
}

Result<std::unique_ptr<ByteSource>> OpenPath(const std::string& path) {
  std::error_code error;
  if (path == "-" || std::filesystem::exists(path, error)) return OpenByteSource(path);
  for (size_t at = path.find(':'); at != std::string::npos; at = path.find(':', at + 1)) {
    const std::string file = path.substr(0, at);
    if (!std::filesystem::is_regular_file(file, error)) continue;
    RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> archive, OpenByteSource(file));
    RS_ASSIGN_OR_RETURN(const std::string start, archive->Peek(kKindBytes));
    if (!IsArchive(start)) break;
    RS_ASSIGN_OR_RETURN(const Members members, MembersOf(std::move(archive)));
    const auto member = std::ranges::find(members, path, &ArchiveMember::path);
    if (member != members.end()) return member->open();
    std::string taken;
    for (const ArchiveMember& one : members)
      if (one.is_trace() || one.is_log())
        taken += (taken.empty() ? "it has: " : ", ") + ShellWord(one.path);
    return Fail(ErrorCode::kIo,
                fmt::format("the archive has no member '{}'", Printable(path.substr(at + 1))),
                {file, {}, {}}, taken);
  }
  return OpenByteSource(path);
}

}  // namespace ringscope
