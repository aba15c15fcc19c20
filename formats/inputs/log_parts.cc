#include <fmt/format.h>

#include <filesystem>

#include "formats/inputs/open_log.h"
#include "formats/io/output_file.h"

namespace ringscope {
namespace {

namespace fs = std::filesystem;

bool IsDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Returns the path of part 0 by that of another part, which has its number after the stem. A part
/// that was renamed has none.
std::optional<fs::path> FirstPartPath(const fs::path& path, uint32_t part) {
  if (part == 0) return path;
  const std::string stem = path.stem().string();
  const size_t dot = stem.rfind('.');
  if (dot == std::string::npos || dot == 0 || !IsDigits(std::string_view(stem).substr(dot + 1)))
    return std::nullopt;
  return path.parent_path() / (stem.substr(0, dot) + path.extension().string());
}

bool IsRegular(const std::string& path) {
  std::error_code ignored;
  return path != "-" && fs::is_regular_file(path, ignored);
}

struct Part {
  std::string path;
  LogHeader header;
};

/// The parts of one recording, by number.
class PartsOfRecording {
 public:
  explicit PartsOfRecording(Part part) { Add(std::move(part)); }

  bool CanTake(const LogHeader& header) const {
    return !uuid().empty() && header.uuid == uuid() && !parts_.contains(header.part);
  }
  void Add(Part part) {
    const uint32_t number = part.header.part;
    parts_.emplace(number, std::move(part));
  }

  const Part& first() const { return parts_.begin()->second; }

  /// Adds the parts beside those that were named. @param named by the user, also of other
  /// recordings
  void AddOthers(const std::set<std::string>& named, LogParts& result) {
    if (uuid().empty()) return;
    for (const std::string& path : Candidates()) {
      std::optional<LogHeader> header = ReadHeaderOf(path);
      std::string why;
      if (header && CanTake(*header)) {
        result.added.push_back(path);
        Add({path, *std::move(header)});
      } else if (!header && !RecordedBy(path)) {  // else the next part is just being begun
        why = "is not a commit log";
      } else if (header && header->uuid == uuid()) {
        why = fmt::format("has part {} too, as {}", header->part, parts_.at(header->part).path);
      } else if (header && header->part > 0) {
        why = fmt::format("is part {} of another recording (uuid {})", header->part, header->uuid);
      }
      if (!why.empty())
        result.problems.push_back(
            fmt::format("{} has the name of a part of {}, but {}: it is {}", path, first().path,
                        why, named.contains(path) ? "read as a session of its own" : "not read"));
    }
  }

  /// Adds the paths in order, and what is missing between them.
  void AddPaths(LogParts& result) const {
    const auto report = [&](uint64_t from, uint64_t to, const std::string& where) {
      result.problems.push_back((from == to ? fmt::format("part {} is", from)
                                            : fmt::format("parts {} to {} are", from, to)) +
                                " missing, " + where);
    };
    uint64_t next = 0;  // parts before it were removed on purpose
    for (const auto& [number, part] : parts_)
      next = std::max<uint64_t>(next, part.header.first_part);
    std::string before;
    for (const auto& [number, part] : parts_) {
      if (number > next)
        report(next, number - 1,
               before.empty() ? fmt::format("before {}", part.path)
                              : fmt::format("between {} and {}", before, part.path));
      next = std::max(next, uint64_t{number} + 1);
      before = part.path;
      result.paths.push_back(part.path);
    }
    std::vector<SessionSummary> sessions;  // by the last file's index, if that can be trusted
    if (const auto source = IsRegular(before) ? OpenByteSource(before) : nullptr; source && *source)
      if (auto info = ReadIndexedInfo(**source); info && *info)
        sessions = std::move((*info)->sessions);
    const std::optional<RecordingEnded> end = sessions.empty() ? std::nullopt : sessions.back().end;
    if (end && end->ending == RecordingEnding::kNextPart)
      report(next, next, fmt::format("after {}", before));
    result.may_have_reads |= parts_.size() > 1 || sessions.empty() ||
                             std::ranges::any_of(sessions, [](const SessionSummary& session) {
                               return session.counts[OpKindOf<ReadPass>()] > 0;
                             });
  }

 private:
  const std::string& uuid() const { return first().header.uuid; }

  /// Returns the other files that have names of parts.
  std::set<std::string> Candidates() const {
    std::set<std::string> found;
    for (const auto& [number, part] : parts_) {
      if (!IsRegular(part.path)) continue;
      const std::optional<fs::path> first_path = FirstPartPath(part.path, number);
      if (!first_path) continue;
      if (IsRegular(first_path->string())) found.insert(first_path->string());
      for (std::string& path : FilesNamedAsParts(first_path->string()))
        found.insert(std::move(path));
    }
    std::erase_if(found, [this](const std::string& path) {
      return std::ranges::any_of(parts_, [&path](const auto& part) {
        std::error_code ignored;
        return fs::equivalent(path, part.second.path, ignored);
      });
    });
    return found;
  }

  std::map<uint32_t, Part> parts_;
};

using Input = std::pair<std::string, std::optional<PartsOfRecording>>;
/// Returns the recordings of paths, and paths alone, in the order in which they are first named.
std::vector<Input> InputsOf(const std::vector<std::string>& named) {
  std::vector<Input> inputs;
  for (const std::string& path : named) {
    std::optional<LogHeader> header = ReadHeaderOf(path);
    const auto known = std::ranges::find_if(inputs, [&](const Input& input) {
      return header && input.second && input.second->CanTake(*header);
    });
    if (known != inputs.end())
      known->second->Add({path, *std::move(header)});
    else if (header)
      inputs.emplace_back(path, PartsOfRecording({path, *std::move(header)}));
    else
      inputs.emplace_back(path, std::nullopt);
  }
  return inputs;
}

}  // namespace

std::string PartPath(const std::string& path, uint32_t part) {
  if (part == 0) return path;
  const fs::path first(path);
  return (first.parent_path() /
          fmt::format("{}.{:04}{}", first.stem().string(), part, first.extension().string()))
      .string();
}

std::vector<std::string> FilesNamedAsParts(const std::string& path) {
  const fs::path first(path);
  const fs::path folder = first.parent_path();
  const std::string start = first.stem().string() + ".";
  const std::string extension = first.extension().string();
  std::vector<std::string> found;
  std::error_code error;
  fs::directory_iterator entry(folder.empty() ? "." : folder, error);
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
    const std::string file = entry->path().filename().string();
    const size_t around = start.size() + extension.size();
    if (file.size() > around && file.starts_with(start) && file.ends_with(extension) &&
        IsDigits(std::string_view(file).substr(start.size(), file.size() - around)))
      found.push_back((folder / file).string());
  }
  std::ranges::sort(found);
  return found;
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
  for (auto& [path, recording] : InputsOf(named)) {
    if (!recording) {
      result.paths.push_back(path);
      result.may_have_reads = true;
      continue;
    }
    recording->AddOthers({named.begin(), named.end()}, result);
    recording->AddPaths(result);
  }
  return result;
}

std::vector<std::string> OnePathPerRecording(const std::vector<std::string>& paths) {
  std::vector<std::string> kept;
  for (const auto& [path, recording] : InputsOf(paths))
    kept.push_back(recording ? recording->first().path : path);
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
  const auto read = [paths, next = size_t{0}, current = std::shared_ptr<ByteSource>()](
                        std::span<uint8_t> into) mutable -> Result<size_t> {
    while (current || next < paths.size()) {
      if (!current) {
        RS_ASSIGN_OR_RETURN(current, OpenByteSource(paths[next++]));
      }
      RS_ASSIGN_OR_RETURN(const size_t got, current->Read(into));
      if (got > 0 || into.empty()) return got;
      current.reset();
    }
    return 0;
  };
  return MakeSource(read, name, size);
}

}  // namespace ringscope
