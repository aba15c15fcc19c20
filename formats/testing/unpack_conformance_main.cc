// unpack_conformance FROM TO: writes the conformance cases of a folder, in which a file has all
// cases of a family, to files of their own: TO/cases/CASE.jsonl.zst, and the released buffers'
// answers to TO/expected/ENGINE/CASE.jsonl.zst.
//
// Each line of FROM/FAMILY.cases.jsonl.zst begins with {"case":"CASE", and each line of
// FROM/FAMILY.answers.jsonl.zst with {"case":"CASE","engines":"ENGINES", where ENGINES is one
// engine or the first and the last of releases that gave the same answers: "v2@54..v2@57".

#include <fmt/format.h>
#include <zstd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/io/byte_stream.h"
#include "formats/io/compressed_source.h"

namespace {

namespace fs = std::filesystem;
using ringscope::Result;
using ringscope::Status;

constexpr std::string_view kCaseKey = R"({"case":")";
constexpr std::string_view kEnginesKey = R"("engines":")";

/// Takes the text of a key from a line's beginning: KEY TEXT `",`.
std::string_view TakeText(std::string_view& line, std::string_view key) {
  if (!line.starts_with(key)) return {};
  line.remove_prefix(key.size());
  const std::string_view text = line.substr(0, line.find('"'));
  line.remove_prefix(std::min(line.size(), text.size() + 2));
  return text;
}

/// "v2@54..v2@56" as v2@54, v2@55, v2@56.
std::vector<std::string> Engines(std::string_view range) {
  const size_t dots = range.find("..");
  if (dots == std::string_view::npos) return {std::string(range)};
  const std::string_view name = range.substr(0, range.find('@') + 1);
  int first = 0, last = 0;
  std::from_chars(range.data() + name.size(), range.data() + dots, first);
  std::from_chars(range.data() + dots + 2 + name.size(), range.data() + range.size(), last);
  std::vector<std::string> engines;
  for (int release = first; release <= last; ++release)
    engines.push_back(fmt::format("{}{}", name, release));
  return engines;
}

Status WriteCompressed(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  std::ofstream file(path, std::ios::binary);
  file << packed;
  file.close();
  if (file) return {};
  return ringscope::Fail(ringscope::ErrorCode::kIo, "cannot write", {path.string(), {}, {}});
}

/// Writes the cases or answers of a file.
Status Unpack(const fs::path& path, const fs::path& to) {
  RS_ASSIGN_OR_RETURN(auto packed, ringscope::OpenByteSource(path.string()));
  const auto source = ringscope::MakeZstdSource(std::move(packed));
  RS_ASSIGN_OR_RETURN(const std::string text, ringscope::ReadAll(*source, SIZE_MAX));
  std::map<fs::path, std::string> files;
  std::string_view rest = text;
  for (uint64_t number = 1; !rest.empty(); ++number) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::string name = std::string(TakeText(line, kCaseKey)) + ".jsonl.zst";
    const std::string_view engines = TakeText(line, kEnginesKey);
    std::vector<fs::path> places;
    if (engines.empty()) places.push_back(to / "cases" / name);
    for (const std::string& engine : Engines(engines))
      if (!engine.empty()) places.push_back(to / "expected" / engine / name);
    if (line.empty() || name.starts_with('.'))
      return ringscope::Fail(ringscope::ErrorCode::kCorrupt, "the line has no case",
                             {path.string(), {}, number});
    for (const fs::path& place : places) files[place].append("{").append(line).append("\n");
  }
  for (const auto& [place, lines] : files) RS_RETURN_IF_ERROR(WriteCompressed(place, lines));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: unpack_conformance FROM TO\n");
    return 2;
  }
  for (const auto& entry : fs::directory_iterator(argv[1])) {
    if (entry.path().extension() != ".zst") continue;
    if (const Status done = Unpack(entry.path(), argv[2]); !done) {
      fmt::print(stderr, "unpack_conformance: {}\n", done.error().ToString());
      return 1;
    }
  }
  return 0;
}
