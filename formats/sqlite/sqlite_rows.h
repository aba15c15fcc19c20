#ifndef RINGSCOPE_FORMATS_SQLITE_SQLITE_ROWS_H_
#define RINGSCOPE_FORMATS_SQLITE_SQLITE_ROWS_H_

#include <sqlite3.h>

#include <concepts>
#include <optional>
#include <string_view>

#include "formats/sqlite/sqlite_file.h"

namespace ringscope {

/// Takes the value of one column of one row.
class SqliteCell {
 public:
  explicit SqliteCell(sqlite3_context* context) : context_(context) {}

  /// Numbers go in modulo 2^64, as SQLite's are signed; one that is absent is NULL, as a cell is
  /// that nothing is put into.
  template <std::integral T>
  void Put(T value) {
    sqlite3_result_int64(context_, static_cast<sqlite3_int64>(value));
  }
  template <std::integral T>
  void Put(const std::optional<T>& value) {
    if (value) Put(*value);
  }
  /// UTF-8, that stays where it is until the rows are in.
  void Put(std::string_view text) {
    sqlite3_result_text(context_, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  }

 private:
  sqlite3_context* context_;
};

/// Rows that go into a table in one go.
class SqliteRows {
 public:
  virtual ~SqliteRows() = default;
  virtual size_t count() const = 0;
  /// @param column from 0, in the table's order
  virtual void Column(size_t row, int column, SqliteCell& cell) const = 0;
};

/// A statement that inserts many rows at once: half the work of a statement for each row, as SQLite
/// fetches the values itself.
class SqliteBulkInsert {
 public:
  /// @param columns that are stored, in the table's order
  SqliteBulkInsert(SqliteFile& file, const char* table, int columns);
  ~SqliteBulkInsert();
  SqliteBulkInsert(const SqliteBulkInsert&) = delete;
  SqliteBulkInsert& operator=(const SqliteBulkInsert&) = delete;

  void Insert(const SqliteRows& rows);

 private:
  struct Table;
  struct Cursor;
  static sqlite3_module Module();

  SqliteFile& file_;
  const int columns_;
  const SqliteRows* rows_ = nullptr;  // that are being inserted
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_SQLITE_SQLITE_ROWS_H_
