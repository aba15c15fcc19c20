#include "formats/sqlite/sqlite_rows.h"

#include <fmt/format.h>

#include <new>
#include <string>

namespace ringscope {

// SQLite reads the rows from a virtual table. Its structures begin with SQLite's own, as SQLite
// asks for, and it gets them back by their addresses.

struct SqliteBulkInsert::Table : sqlite3_vtab {
  const SqliteBulkInsert* insert = nullptr;
};

struct SqliteBulkInsert::Cursor : sqlite3_vtab_cursor {
  size_t row = 0;
};

sqlite3_module SqliteBulkInsert::Module() {
  sqlite3_module module = {};
  module.iVersion = 1;
  module.xConnect = [](sqlite3* database, void* insert, int, const char* const*,
                       sqlite3_vtab** table, char**) {
    auto* made = new (std::nothrow) Table;
    if (made == nullptr) return SQLITE_NOMEM;
    made->insert = static_cast<const SqliteBulkInsert*>(insert);
    std::string columns = "a0";
    for (int i = 1; i < made->insert->columns_; ++i) columns += fmt::format(",a{}", i);
    *table = made;
    return sqlite3_declare_vtab(database, fmt::format("CREATE TABLE rows({})", columns).c_str());
  };
  module.xDisconnect = [](sqlite3_vtab* table) {
    delete static_cast<Table*>(table);
    return SQLITE_OK;
  };
  module.xBestIndex = [](sqlite3_vtab*, sqlite3_index_info*) { return SQLITE_OK; };
  module.xOpen = [](sqlite3_vtab*, sqlite3_vtab_cursor** cursor) {
    *cursor = new (std::nothrow) Cursor;
    return *cursor == nullptr ? SQLITE_NOMEM : SQLITE_OK;
  };
  module.xClose = [](sqlite3_vtab_cursor* cursor) {
    delete static_cast<Cursor*>(cursor);
    return SQLITE_OK;
  };
  module.xFilter = [](sqlite3_vtab_cursor* cursor, int, const char*, int, sqlite3_value**) {
    static_cast<Cursor*>(cursor)->row = 0;
    return SQLITE_OK;
  };
  module.xNext = [](sqlite3_vtab_cursor* cursor) {
    ++static_cast<Cursor*>(cursor)->row;
    return SQLITE_OK;
  };
  module.xEof = [](sqlite3_vtab_cursor* cursor) {
    const SqliteRows* rows = static_cast<Table*>(cursor->pVtab)->insert->rows_;
    return rows == nullptr || static_cast<Cursor*>(cursor)->row >= rows->count() ? 1 : 0;
  };
  module.xColumn = [](sqlite3_vtab_cursor* cursor, sqlite3_context* context, int column) {
    SqliteCell cell(context);
    static_cast<Table*>(cursor->pVtab)
        ->insert->rows_->Column(static_cast<Cursor*>(cursor)->row, column, cell);
    return SQLITE_OK;
  };
  module.xRowid = [](sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
    *id = static_cast<sqlite3_int64>(static_cast<Cursor*>(cursor)->row);
    return SQLITE_OK;
  };
  return module;
}

SqliteBulkInsert::SqliteBulkInsert(SqliteFile& file, const char* table, int columns)
    : file_(file), columns_(columns) {
  static const sqlite3_module kModule = Module();
  const std::string source = fmt::format("rows_of_{}", table);
  if (!file_.status()) return;
  file_.Check(sqlite3_create_module(file_.db_, source.c_str(), &kModule, this));
  const std::string sql = fmt::format("INSERT INTO {} SELECT * FROM {}", table, source);
  if (file_.status())
    file_.Check(sqlite3_prepare_v3(file_.db_, sql.c_str(), static_cast<int>(sql.size()),
                                   SQLITE_PREPARE_PERSISTENT, &statement_, nullptr));
}

SqliteBulkInsert::~SqliteBulkInsert() { sqlite3_finalize(statement_); }

void SqliteBulkInsert::Insert(const SqliteRows& rows) {
  if (statement_ == nullptr || !file_.status() || rows.count() == 0) return;
  rows_ = &rows;
  file_.Check(sqlite3_step(statement_));
  sqlite3_reset(statement_);
  rows_ = nullptr;
}

}  // namespace ringscope
