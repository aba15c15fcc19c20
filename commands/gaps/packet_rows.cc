#include "commands/gaps/packet_rows.h"

#include <fmt/format.h>

#include "commands/replays/loss_words.h"
#include "commands/view/json_fields.h"
#include "commands/view/table.h"
#include "core/base/text.h"

namespace ringscope {
namespace {

/// Writes the fields of a row. Unknown values are null in JSON, empty in CSV.
struct RowWriter {
  /// @param value as the format has it; empty: unknown
  void Add(const char* key, std::string_view value) {
    if (format == RowFormat::kJson) line.append("\"").append(key).append("\":");
    if (format == RowFormat::kJson && value.empty()) value = "null";
    line.append(format == RowFormat::kCsvTitles ? key : value).append(",");
  }
  void Number(const char* key, std::optional<uint64_t> value) {
    if (!value) return Add(key, "");
    const fmt::format_int digits(*value);
    Add(key, {digits.data(), digits.size()});
  }
  void Text(const char* key, const std::string& value) {
    Add(key, value.empty()                ? value
             : format == RowFormat::kJson ? JsonText(Json(value))
                                          : CsvText(value));
  }
  void Flag(const char* key, bool value) {
    if (format == RowFormat::kJson) return Add(key, value ? "true" : "false");
    Add(key, value ? "1" : "0");
  }

  std::string& line;
  const RowFormat format;
};

}  // namespace

void WritePacketRow(RowFormat format, const PacketAccount& account, uint64_t session,
                    std::optional<uint64_t> clone, const std::string& kind, std::string& line) {
  RowWriter row{line, format};
  const bool is_json = format == RowFormat::kJson;
  line = is_json ? "{\"type\":\"packet\"," : "";
  row.Number("session", session);
  row.Number("buffer", Raw(account.buffer));
  row.Text("sequence", ToString(account.sequence));
  row.Number("chunk", account.first_chunk);
  row.Number("fragment", account.fragment);
  row.Number("offset", account.first_offset);
  row.Number("last_chunk", account.last_chunk);
  row.Number("size", account.size);
  row.Text("content", ContentName(account.facts.content));
  row.Number("timestamp", account.facts.timestamp);
  row.Text("fate", Name(account.fate));
  row.Text("cause", Name(account.cause));
  row.Flag("own_fault", account.own_fault);
  row.Text("culprit", account.culprit ? ToString(*account.culprit) : "");
  row.Number("written_ns", account.written.time_ns);
  row.Number("written_record", account.written.record);
  row.Number("lost_ns", account.decided.time_ns);
  row.Number("lost_record", account.decided.record);
  row.Number("clone", clone);
  row.Text("name", kind);
  line.back() = is_json ? '}' : '\n';
  if (is_json) line += '\n';
}

std::string LostPacketText(const PacketAccount& account, const std::string& kind,
                           const SessionNotes& notes) {
  return fmt::format(
      "{:<15} {:>9}  {}{}{} written {}, lost {}: {}{}{}",
      fmt::format("{}#{}.{}", ToString(account.sequence), account.first_chunk, account.fragment),
      HumanSize(account.size), ContentName(account.facts.content), kind.empty() ? "" : ": ", kind,
      SpanText(notes, {account.written, account.written}), TimeText(notes, account.decided.time_ns),
      CauseText({account.fate, account.cause, account.own_fault, account.loss_bits, {}}),
      account.culprit ? ", for " : "", account.culprit ? ToString(*account.culprit) : "");
}

}  // namespace ringscope
