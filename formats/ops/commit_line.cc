#include "formats/ops/commit_line.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "core/base/enum_names.h"
#include "core/base/wire.h"
#include "core/perfetto/commit_request.h"
#include "formats/io/hex.h"

namespace ringscope {
namespace {

/// The keys of a "commit" line but "payload" and "origin", with the largest value of each.
enum CommitKey : size_t {
  kTs,
  kProducer,
  kUid,
  kPid,
  kBuffer,
  kWriter,
  kChunk,
  kFragments,
  kFlags,
  kCommitKeys,
};
struct NumberKey {
  std::string_view name;
  uint64_t max;
};
constexpr std::array<NumberKey, kCommitKeys> kNumberKeys = {{
    {"ts", std::numeric_limits<uint64_t>::max()},
    {"producer", std::numeric_limits<uint16_t>::max()},
    {"uid", std::numeric_limits<uint32_t>::max()},
    {"pid", std::numeric_limits<int32_t>::max()},
    {"buffer", std::numeric_limits<uint16_t>::max()},
    {"writer", std::numeric_limits<uint16_t>::max()},
    {"chunk", std::numeric_limits<uint32_t>::max()},
    {"fragments", kMaxFragmentCount},
    {"flags", kMaxChunkFlags},
}};

/// Takes what it is asked for off the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool Take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool Take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  /// What is left up to the next quote, which is taken, too.
  bool TakeToQuote(std::string_view& text) {
    const size_t end = rest_.find('"');
    if (end == std::string_view::npos) return false;
    text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }
  /// A number as JSON has it, of few enough digits that it cannot overflow.
  bool TakeNumber(uint64_t& number) {
    constexpr size_t kMaxDigits = std::numeric_limits<uint64_t>::digits10;
    number = 0;
    size_t digits = 0;
    while (digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9') {
      if (++digits > kMaxDigits) return false;
      number = 10 * number + static_cast<uint64_t>(rest_[digits - 1] - '0');
    }
    if (digits == 0 || (digits > 1 && rest_[0] == '0')) return false;
    rest_.remove_prefix(digits);
    return true;
  }
  bool is_at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace

bool ParseCommitLine(std::string_view line, Op& op, std::string& request) {
  Scanner scanner(line);
  if (!scanner.Take(R"({"op":"commit")")) return false;
  std::array<std::optional<uint64_t>, kCommitKeys> numbers;
  std::optional<bool> complete;
  std::optional<Origin> origin;
  std::optional<std::string_view> payload;
  while (!scanner.Take('}')) {
    std::string_view key, text;
    if (!scanner.Take(",\"") || !scanner.TakeToQuote(key) || !scanner.Take(':')) return false;
    if (key == "payload") {
      if (payload || !scanner.Take('"') || !scanner.TakeToQuote(text)) return false;
      payload = text;
      continue;
    }
    if (key == "complete") {
      if (complete) return false;
      complete = scanner.Take("true");
      if (!*complete && !scanner.Take("false")) return false;
      continue;
    }
    if (key == "origin") {
      if (origin || !scanner.Take('"') || !scanner.TakeToQuote(text)) return false;
      origin = FromName<Origin>(text);
      if (!origin) return false;
      continue;
    }
    size_t index = 0;
    while (index < kCommitKeys && kNumberKeys[index].name != key) ++index;
    uint64_t number = 0;
    if (index == kCommitKeys || numbers[index] || !scanner.TakeNumber(number) ||
        number > kNumberKeys[index].max)
      return false;
    numbers[index] = number;
  }
  if (!scanner.is_at_end() || !payload || payload->size() / 2 > kMaxChunkPayload ||
      !numbers[kProducer] || !numbers[kWriter] || !numbers[kChunk] || !numbers[kFragments] ||
      (*numbers[kProducer] == 0 && *numbers[kWriter] == 0))
    return false;

  const ChunkHeader header{.chunk = ChunkId{static_cast<uint32_t>(*numbers[kChunk])},
                           .writer = WriterId{static_cast<uint16_t>(*numbers[kWriter])},
                           .fragments = static_cast<uint16_t>(*numbers[kFragments]),
                           .flags = static_cast<uint8_t>(numbers[kFlags].value_or(0))};
  CommitRequestBuilder builder(request);
  const BufferId buffer{static_cast<uint16_t>(numbers[kBuffer].value_or(0))};
  builder.BeginChunk(buffer, header, payload->size() / 2, complete.value_or(true));
  if (!DecodeHex(*payload, request)) return false;
  builder.EndChunk(complete.value_or(true));

  op.time_ns = numbers[kTs];
  auto& commit = op.body.emplace<Commit>();
  commit.producer = ProducerId{static_cast<uint16_t>(*numbers[kProducer])};
  if (numbers[kUid]) commit.uid = static_cast<uint32_t>(*numbers[kUid]);
  if (numbers[kPid]) commit.pid = static_cast<int32_t>(*numbers[kPid]);
  if (origin) commit.origin = *origin;
  commit.request = wire::AsBytes(request);
  return true;
}

}  // namespace ringscope
