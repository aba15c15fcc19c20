#ifndef RINGSCOPE_COMMANDS_TESTING_DATABASE_H_
#define RINGSCOPE_COMMANDS_TESTING_DATABASE_H_

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>
#include <vector>

namespace ringscope::testing {

using Rows = std::vector<std::vector<std::string>>;

/// A database that a test asks.
class Database {
 public:
  explicit Database(const std::string& path) {
    EXPECT_EQ(sqlite3_open_v2(path.c_str(), &db_, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  }
  ~Database() { sqlite3_close(db_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Rows Ask(const std::string& sql) {
    Rows rows;
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr), SQLITE_OK)
        << sqlite3_errmsg(db_);
    while (sqlite3_step(statement) == SQLITE_ROW) {
      std::vector<std::string>& row = rows.emplace_back();
      for (int i = 0; i < sqlite3_column_count(statement); ++i) {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
        row.emplace_back(text == nullptr ? "NULL" : text);
      }
    }
    EXPECT_EQ(sqlite3_finalize(statement), SQLITE_OK) << sqlite3_errmsg(db_);
    return rows;
  }

 private:
  sqlite3* db_ = nullptr;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_DATABASE_H_
