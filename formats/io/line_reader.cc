#include "formats/io/line_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/wire.h"

namespace ringscope {

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
