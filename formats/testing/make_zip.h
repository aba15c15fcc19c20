#ifndef RINGSCOPE_FORMATS_TESTING_MAKE_ZIP_H_
#define RINGSCOPE_FORMATS_TESTING_MAKE_ZIP_H_

#include <zip.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace ringscope::testing {

/// A file to put into a zip archive.
struct ZippedFile {
  std::string name;
  std::string content;
  bool encrypted = false;
};
/// The bytes of an archive with these files, in this order.
inline std::string MakeZip(const std::vector<ZippedFile>& files) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const bytes = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_source_keep(bytes);  // closing the archive drops it once
  zip_t* const archive = zip_open_from_source(bytes, ZIP_CREATE | ZIP_TRUNCATE, &error);
  if (archive == nullptr) throw std::runtime_error("no archive can be made");
  for (const ZippedFile& file : files) {
    const zip_int64_t index =
        zip_file_add(archive, file.name.c_str(),
                     zip_source_buffer(archive, file.content.data(), file.content.size(), 0), 0);
    if (index < 0) throw std::runtime_error(zip_strerror(archive));
    if (file.encrypted)
      zip_file_set_encryption(archive, static_cast<zip_uint64_t>(index), ZIP_EM_AES_256, "secret");
  }
  if (zip_close(archive) != 0) throw std::runtime_error(zip_strerror(archive));
  zip_stat_t stat;
  zip_source_stat(bytes, &stat);
  std::string made(stat.size, '\0');
  zip_source_open(bytes);
  zip_source_read(bytes, made.data(), made.size());
  zip_source_close(bytes);
  zip_source_free(bytes);
  return made;
}

}  // namespace ringscope::testing

#endif  // RINGSCOPE_FORMATS_TESTING_MAKE_ZIP_H_
