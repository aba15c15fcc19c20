#ifndef RINGSCOPE_FORMATS_TESTING_TESTDATA_H_
#define RINGSCOPE_FORMATS_TESTING_TESTDATA_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/wire.h"
#include "formats/io/byte_stream.h"
#include "formats/io/compressed_source.h"

namespace ringscope::testing {

/// Where the test data is; set by the build (RS_TESTDATA). Conformance cases are where the build
/// unpacks them (RS_UNPACKED).
inline std::filesystem::path TestdataPath(std::string_view relative) {
  const bool is_unpacked = relative.starts_with("conformance");
  return std::filesystem::path(is_unpacked ? RS_UNPACKED : RS_TESTDATA) / relative;
}

/// The operations of a captured session.
inline std::string CaptureOps(std::string_view capture) {
  return TestdataPath("captures") / capture / "session.ops.jsonl.zst";
}
/// The log that the build made of them.
inline std::string CapturePath(std::string_view capture) {
  return std::filesystem::path(RS_UNPACKED) / "captures" / (std::string(capture) + ".tblog");
}

/// The captured sessions, for tests with a parameter.
inline auto AllCaptures() {
  return ::testing::Values("discard-v2", "lossless-v2", "ring-v1", "ring-v2", "short-v2",
                           "stream-v2", "two-buffers-v2");
}
/// "ring_v2", "v2_58": a capture or an engine as test names can have it.
template <typename Name>
std::string NameOfParam(const ::testing::TestParamInfo<Name>& test) {
  std::string name(test.param);
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || c == '@'; }, '_');
  return name;
}
/// All engines, for tests with a parameter.
inline auto AllEngines() {
  return ::testing::Values("v1", "v2@54", "v2@55", "v2@56", "v2@57", "v2@58");
}

/// All that a source has. A failure fails the test and gives an empty text.
inline std::string ReadAll(ByteSource& source) {
  Result<std::string> all = ringscope::ReadAll(source, SIZE_MAX);
  if (!all) ADD_FAILURE() << all.error().ToString();
  return std::move(all).value_or("");
}

/// A file of the test data as a string, decompressed if its name ends in ".zst".
inline std::string ReadTestdata(std::string_view relative) {
  const std::filesystem::path path = TestdataPath(relative);
  auto source = OpenByteSource(path.string());
  if (!source) {
    ADD_FAILURE() << source.error().ToString();
    return {};
  }
  if (path.extension() != ".zst") return ReadAll(**source);
  return ReadAll(*MakeZstdSource(std::move(*source)));
}

/// The files below a folder of the test data whose names end so, relative to the test data, sorted.
inline std::vector<std::string> ListTestdata(const std::filesystem::path& folder,
                                             std::string_view ending) {
  std::vector<std::string> found;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(TestdataPath(folder.string()))) {
    if (entry.is_regular_file() && entry.path().string().ends_with(ending))
      found.push_back(folder / entry.path().lexically_relative(TestdataPath(folder.string())));
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// The lines of a text, without their line breaks.
inline std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace ringscope::testing

#endif  // RINGSCOPE_FORMATS_TESTING_TESTDATA_H_
