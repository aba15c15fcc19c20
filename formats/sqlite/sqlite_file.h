#ifndef RINGSCOPE_FORMATS_SQLITE_SQLITE_FILE_H_
#define RINGSCOPE_FORMATS_SQLITE_SQLITE_FILE_H_

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "formats/io/output_file.h"

namespace ringscope {

class SqliteInsert;

/// A SQLite database that is written from nothing, in one transaction, and appears under its name
/// once it is whole. The first error stays: whatever follows it does nothing, and Commit returns
/// it.
class SqliteFile {
 public:
  static Result<std::unique_ptr<SqliteFile>> Create(const std::string& path, const OutputKind& kind,
                                                    Replace replace);
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  /// Runs statements that return nothing.
  void Execute(const std::string& sql);
  /// The first error so far.
  const Status& status() const { return status_; }
  /// The prepared INSERT of a table that exists. @param table a literal
  SqliteInsert& Into(const char* table);
  /// Ends the transaction, closes the file and puts it in its place. Call once, last.
  Status Commit();
  const std::string& path() const { return pending_.path(); }

 private:
  friend class SqliteInsert;

  explicit SqliteFile(PendingFile pending);
  void Check(int code);

  PendingFile pending_;
  sqlite3* db_ = nullptr;
  Status status_;
  std::map<const char*, std::unique_ptr<SqliteInsert>> inserts_;
};

/// A prepared INSERT: one call for each row.
class SqliteInsert {
 public:
  /// The table's own description gives the columns that are stored.
  SqliteInsert(SqliteFile& file, const char* table);
  ~SqliteInsert();
  SqliteInsert(const SqliteInsert&) = delete;
  SqliteInsert& operator=(const SqliteInsert&) = delete;

  /// Inserts a row. Numbers go in modulo 2^64, as SQLite's are signed; text must be UTF-8; an
  /// absent optional and nullptr are NULL.
  template <typename... Values>
  void Row(const Values&... values) {
    if (statement_ == nullptr || !file_.status()) return;
    int column = 0;
    (Bind(++column, values), ...);
    Step();
  }

 private:
  void Bind(int column, uint64_t value) {
    sqlite3_bind_int64(statement_, column, static_cast<sqlite3_int64>(value));
  }
  void Bind(int column, uint32_t value) { Bind(column, uint64_t{value}); }
  void Bind(int column, uint16_t value) { Bind(column, uint64_t{value}); }
  void Bind(int column, int32_t value) { sqlite3_bind_int(statement_, column, value); }
  void Bind(int column, bool value) { sqlite3_bind_int(statement_, column, value ? 1 : 0); }
  /// The text must stay where it is until the row is in: it does, during the call.
  void Bind(int column, std::string_view text) {
    sqlite3_bind_text(statement_, column, text.data(), static_cast<int>(text.size()),
                      SQLITE_STATIC);
  }
  void Bind(int column, const std::string& text) { Bind(column, std::string_view(text)); }
  void Bind(int column, const char* text) { Bind(column, std::string_view(text)); }
  void Bind(int column, std::nullptr_t) { sqlite3_bind_null(statement_, column); }
  template <typename T>
  void Bind(int column, const std::optional<T>& value) {
    value ? Bind(column, *value) : Bind(column, nullptr);
  }
  void Step();

  SqliteFile& file_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_SQLITE_SQLITE_FILE_H_
