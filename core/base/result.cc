#include "core/base/result.h"

#include <fmt/format.h>

namespace ringscope {

std::string Error::ToString() const {
  std::string text;
  if (!where.path.empty()) {
    text = where.path;
    if (where.line) text += fmt::format(":{}", *where.line);
    text += ": ";
  } else if (where.line) {
    text = fmt::format("line {}: ", *where.line);
  }
  if (where.offset) text += fmt::format("at byte {}: ", *where.offset);
  text += message;
  if (!hint.empty()) text += fmt::format(" ({})", hint);
  return text;
}

}  // namespace ringscope
