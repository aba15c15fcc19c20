#include "formats/inputs/log_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "formats/inputs/log_check.h"
#include "formats/inputs/open_log.h"
#include "formats/io/file_lock.h"

namespace ringscope {
namespace {

namespace fs = std::filesystem;

/// A name of a recording's file, taken apart: folder, what all parts begin with, and extension.
struct PartName {
  fs::path folder;
  std::string stem;
  std::string extension;
  bool has_number = false;
};

bool IsDigits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// @param part of the file; part 0 has no number, or 0
PartName TakeApart(const std::string& path, uint32_t part) {
  const fs::path whole(path);
  PartName name{whole.parent_path(), whole.stem().string(), whole.extension().string()};
  const size_t dot = name.stem.rfind('.');
  if (dot == std::string::npos || dot == 0) return name;
  const std::string_view number = std::string_view(name.stem).substr(dot + 1);
  const bool is_zero = number.find_first_not_of('0') == std::string_view::npos;
  if (!IsDigits(number) || (part == 0 && !is_zero)) return name;
  name.stem.resize(dot);
  name.has_number = true;
  return name;
}

/// The files of the folder that are named as parts of a recording with numbers. Sorted.
std::vector<std::string> NamedAlike(const PartName& name) {
  std::vector<std::string> found;
  const std::string start = name.stem + ".";
  std::error_code error;
  fs::directory_iterator entry(name.folder.empty() ? "." : name.folder, error);
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
    const std::string file = entry->path().filename().string();
    if (file.size() <= start.size() + name.extension.size() || !file.starts_with(start) ||
        !file.ends_with(name.extension))
      continue;
    std::string_view middle = std::string_view(file).substr(start.size());
    middle.remove_suffix(name.extension.size());
    if (IsDigits(middle)) found.push_back((name.folder / file).string());
  }
  std::ranges::sort(found);
  return found;
}

bool IsRegular(const std::string& path) {
  std::error_code ignored;
  return path != "-" && fs::is_regular_file(path, ignored);
}

struct Part {
  std::string path;
  LogHeader header;
};

/// "part 3 is", "parts 3 to 5 are"
std::string PartsAre(uint64_t first, uint64_t last) {
  return first == last ? fmt::format("part {} is", first)
                       : fmt::format("parts {} to {} are", first, last);
}

/// The parts of one recording, by number.
class Recording {
 public:
  explicit Recording(Part part) { Add(std::move(part)); }

  bool CanTake(const LogHeader& header) const {
    return !uuid().empty() && header.uuid == uuid() && !parts_.contains(header.part);
  }
  void Add(Part part) {
    const uint32_t number = part.header.part;
    parts_.emplace(number, std::move(part));
  }

  /// Adds the parts beside those that were named.
  /// @param named by the user, also those of other recordings
  void AddOthers(const std::set<std::string>& named, LogParts& result) {
    if (uuid().empty()) return;
    for (const std::string& path : Candidates()) {
      std::optional<LogHeader> header = ReadHeaderOf(path);
      if (header && CanTake(*header)) {
        result.added.push_back(path);
        Add({path, *std::move(header)});
      } else if (!header && LockOwnerOf(path)) {
        continue;  // the next part is just being begun
      } else if (!header) {
        result.problems.push_back(
            fmt::format("{} has the name of a part of {}, but is not a commit log: it is not read",
                        path, first().path));
      } else if (header->uuid == uuid()) {
        result.problems.push_back(fmt::format("{} has part {} too, as {}: it is not read", path,
                                              header->part, parts_.at(header->part).path));
      } else if (header->part > 0) {
        result.problems.push_back(fmt::format(
            "{} has the name of a part of {}, but is part {} of {} recording (uuid {}): it is {}",
            path, first().path, header->part, IsOlder(path) ? "an older" : "another", header->uuid,
            named.contains(path) ? "read as a session of its own" : "not read"));
      }
    }
  }

  void FindMissing(LogParts& result) const {
    uint64_t next = 0;  // parts before it were removed on purpose
    for (const auto& [number, part] : parts_)
      next = std::max<uint64_t>(next, part.header.first_part);
    const std::string* before = nullptr;
    for (const auto& [number, part] : parts_) {
      if (number > next) {
        result.problems.push_back(
            before == nullptr
                ? fmt::format("{} missing, before {}", PartsAre(next, number - 1), part.path)
                : fmt::format("{} missing, between {} and {}", PartsAre(next, number - 1), *before,
                              part.path));
      }
      next = std::max(next, uint64_t{number} + 1);
      before = &part.path;
    }
    if (ContinuesAfter(*before))
      result.problems.push_back(fmt::format("{} missing, after {}", PartsAre(next, next), *before));
  }

  void AppendPaths(LogParts& result) const {
    for (const auto& [number, part] : parts_) result.paths.push_back(part.path);
  }

 private:
  const Part& first() const { return parts_.begin()->second; }
  const std::string& uuid() const { return first().header.uuid; }

  /// The other files that have names of parts. A file that was renamed has none beside it.
  std::set<std::string> Candidates() const {
    std::set<std::string> found;
    for (const auto& [number, part] : parts_) {
      if (!IsRegular(part.path)) continue;
      const PartName name = TakeApart(part.path, number);
      if (number > 0 && !name.has_number) continue;
      const std::string whole = (name.folder / (name.stem + name.extension)).string();
      const std::optional<LogHeader> header = ReadHeaderOf(whole);
      if (header && header->uuid == uuid()) found.insert(whole);
      for (std::string& path : NamedAlike(name)) found.insert(std::move(path));
    }
    for (const auto& [number, part] : parts_) {
      std::error_code ignored;
      std::erase_if(found, [&ignored, &own = part.path](const std::string& path) {
        return path == own || fs::equivalent(path, own, ignored);
      });
    }
    return found;
  }

  bool IsOlder(const std::string& path) const {
    std::error_code error;
    const auto time = fs::last_write_time(path, error);
    const auto own = fs::last_write_time(first().path, error);
    return !error && time < own;
  }

  /// Whether the recorder wrote that a part follows this one.
  static bool ContinuesAfter(const std::string& path) {
    if (!IsRegular(path)) return false;
    auto source = OpenByteSource(path);
    if (!source) return false;
    const auto info = ReadIndexedInfo(**source);
    if (!info || !*info || (*info)->sessions.empty()) return false;
    const std::optional<RecordingEnded>& end = (*info)->sessions.back().end;
    return end && end->ending == RecordingEnding::kNextPart;
  }

  std::map<uint32_t, Part> parts_;
};

/// The files of several inputs, one after the other.
class JoinedSource : public ByteSource {
 public:
  JoinedSource(std::vector<std::string> paths, std::string name, uint64_t size)
      : paths_(std::move(paths)), name_(std::move(name)), size_(size) {}

  Result<size_t> Read(std::span<uint8_t> into) override {
    while (true) {
      if (!current_) {
        if (next_ == paths_.size()) return 0;
        RS_ASSIGN_OR_RETURN(current_, OpenByteSource(paths_[next_++]));
      }
      RS_ASSIGN_OR_RETURN(const size_t got, current_->Read(into));
      if (got > 0 || into.empty()) return got;
      current_.reset();
    }
  }
  const std::string& path() const override { return name_; }
  std::optional<uint64_t> size() const override { return size_; }
  bool CanReadAt() const override { return false; }

 private:
  const std::vector<std::string> paths_;
  const std::string name_;
  const uint64_t size_;
  size_t next_ = 0;
  std::unique_ptr<ByteSource> current_;
};

}  // namespace

std::string PartPath(const std::string& path, uint32_t part) {
  if (part == 0) return path;
  const fs::path whole(path);
  const std::string name =
      fmt::format("{}.{:04}{}", whole.stem().string(), part, whole.extension().string());
  return (whole.parent_path() / name).string();
}

std::vector<std::string> FilesNamedAsParts(const std::string& path) {
  const fs::path whole(path);
  return NamedAlike({whole.parent_path(), whole.stem().string(), whole.extension().string()});
}

std::optional<LogHeader> ReadHeaderOf(const std::string& path) {
  if (!IsRegular(path)) return std::nullopt;
  const auto log = OpenLog(path);
  if (!log || (*log)->format() != LogFormat::kCommitLog) return std::nullopt;
  auto first = (*log)->Next();
  if (!first || !*first) return std::nullopt;
  auto* header = std::get_if<LogHeader>(&(*first)->body);
  return header == nullptr ? std::nullopt : std::optional(std::move(*header));
}

LogParts FindLogParts(const std::vector<std::string>& named) {
  LogParts result;
  // Either a recording or a path alone, in the order in which they are first named.
  std::vector<std::pair<std::string, std::optional<Recording>>> inputs;
  for (const std::string& path : named) {
    std::optional<LogHeader> header = ReadHeaderOf(path);
    if (!header) {
      inputs.emplace_back(path, std::nullopt);
      continue;
    }
    const auto known = std::ranges::find_if(
        inputs, [&](const auto& input) { return input.second && input.second->CanTake(*header); });
    if (known != inputs.end())
      known->second->Add({path, *std::move(header)});
    else
      inputs.emplace_back(path, Recording({path, *std::move(header)}));
  }
  for (auto& [path, recording] : inputs) {
    if (!recording) {
      result.paths.push_back(path);
      continue;
    }
    recording->AddOthers({named.begin(), named.end()}, result);
    recording->FindMissing(result);
    recording->AppendPaths(result);
  }
  return result;
}

std::vector<std::string> OnePathPerRecording(const std::vector<std::string>& paths) {
  std::map<std::string, std::pair<uint32_t, std::string>> first;  // of each recording
  std::vector<std::pair<std::string, std::optional<LogHeader>>> all;
  for (const std::string& path : paths) {
    std::optional<LogHeader> header = ReadHeaderOf(path);
    if (header && !header->uuid.empty()) {
      const auto entry = first.try_emplace(header->uuid, header->part, path).first;
      if (header->part < entry->second.first) entry->second = {header->part, path};
    }
    all.emplace_back(path, std::move(header));
  }
  std::vector<std::string> kept;
  for (auto& [path, header] : all) {
    const bool follows = header && header->part > 0 && !header->uuid.empty() &&
                         first.at(header->uuid).second != path;
    if (!follows) kept.push_back(std::move(path));
  }
  return kept;
}

Result<std::unique_ptr<ByteSource>> OpenJoined(const std::vector<std::string>& paths,
                                               const std::string& name) {
  if (paths.size() == 1) return OpenByteSource(paths.front());
  uint64_t size = 0;
  for (const std::string& path : paths) {
    RS_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
    size += source->size().value_or(0);
  }
  return std::make_unique<JoinedSource>(paths, name, size);
}

}  // namespace ringscope
