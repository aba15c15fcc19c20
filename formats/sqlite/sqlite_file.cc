#include "formats/sqlite/sqlite_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace ringscope {
namespace {

// A file that is discarded unless it is complete needs no journal, and need not reach the disk
// before more is written.
constexpr const char* kSetUp = R"(
PRAGMA page_size = 16384;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA cache_size = -16384;
PRAGMA threads = 2;
BEGIN;
)";

const char* HintFor(int code, int system_error) {
  const bool full = code == SQLITE_FULL || system_error == ENOSPC || system_error == EDQUOT;
  return full ? "free some space, or write to another file system" : "";
}

}  // namespace

Result<std::unique_ptr<SqliteFile>> SqliteFile::Create(const std::string& path,
                                                       const OutputKind& kind, Replace replace) {
  RS_ASSIGN_OR_RETURN(PendingFile pending, PendingFile::At(path, kind, replace));
  std::unique_ptr<SqliteFile> file(new SqliteFile(std::move(pending)));
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
  file->Check(
      sqlite3_open_v2(file->pending_.temporary().c_str(), &file->db_, kFlags, /*zVfs=*/nullptr));
  file->Execute(kSetUp);
  RS_RETURN_IF_ERROR(file->status());
  return file;
}

SqliteFile::SqliteFile(PendingFile pending) : pending_(std::move(pending)) {}

SqliteFile::~SqliteFile() {
  inserts_.clear();
  sqlite3_close(db_);
}

SqliteInsert& SqliteFile::Into(const char* table) {
  std::unique_ptr<SqliteInsert>& insert = inserts_[table];
  if (insert == nullptr) insert = std::make_unique<SqliteInsert>(*this, table);
  return *insert;
}

void SqliteFile::Execute(const std::string& sql) {
  if (status_) Check(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr));
}

void SqliteFile::Check(int code) {
  if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW || !status_) return;
  const int system_error = db_ == nullptr ? 0 : sqlite3_system_errno(db_);
  const char* what = db_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(db_);
  status_ = Fail(ErrorCode::kIo,
                 fmt::format("cannot write the database: {}{}", what,
                             system_error == 0 ? std::string()
                                               : fmt::format(": {}", std::strerror(system_error))),
                 {path(), {}, {}}, HintFor(code & 0xFF, system_error));
}

Status SqliteFile::Commit() {
  inserts_.clear();
  Execute("COMMIT;");
  RS_RETURN_IF_ERROR(status_);
  const int closed = sqlite3_close(db_);
  if (closed == SQLITE_OK) db_ = nullptr;
  Check(closed);
  RS_RETURN_IF_ERROR(status_);
  return pending_.Commit();
}

SqliteInsert::SqliteInsert(SqliteFile& file, const char* table) : file_(file) {
  std::string places;
  const auto add = [](void* list, int, char**, char**) {
    *static_cast<std::string*>(list) += static_cast<std::string*>(list)->empty() ? "?" : ",?";
    return 0;
  };
  const std::string columns = fmt::format("SELECT 1 FROM pragma_table_info('{}')", table);
  if (file_.status())
    file_.Check(sqlite3_exec(file_.db_, columns.c_str(), add, &places, /*errmsg=*/nullptr));
  const std::string sql = fmt::format("INSERT INTO {} VALUES({})", table, places);
  if (file_.status())
    file_.Check(sqlite3_prepare_v3(file_.db_, sql.c_str(), static_cast<int>(sql.size()),
                                   SQLITE_PREPARE_PERSISTENT, &statement_, nullptr));
}

SqliteInsert::~SqliteInsert() { sqlite3_finalize(statement_); }

void SqliteInsert::Step() {
  file_.Check(sqlite3_step(statement_));
  sqlite3_reset(statement_);
}

}  // namespace ringscope
