#include "formats/io/log_source.h"

#include <fmt/format.h>

namespace ringscope {
namespace {

/// "records 7 to 9", "record 7", "3 records".
std::string LostRecords(const Damage& damage) {
  const uint64_t count = damage.records.value_or(0);
  if (count == 0) return {};
  if (!damage.first_record) return fmt::format("{} {}", count, count == 1 ? "record" : "records");
  if (count == 1) return fmt::format("record {}", *damage.first_record);
  return fmt::format("records {} to {}", *damage.first_record, *damage.first_record + count - 1);
}

}  // namespace

std::string Damage::ToString() const {
  std::string text = fmt::format("at byte {}: ", offset);
  const std::string lost = LostRecords(*this);
  if (bytes > 0) {
    text += fmt::format("{} {} lost", bytes, bytes == 1 ? "byte" : "bytes");
    if (!lost.empty()) text += fmt::format(" ({})", lost);
    text += ": ";
  } else if (!lost.empty()) {
    text += fmt::format("{} lost: ", lost);
  }
  return text + what;
}

}  // namespace ringscope
