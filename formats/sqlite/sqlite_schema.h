#ifndef RINGSCOPE_FORMATS_SQLITE_SQLITE_SCHEMA_H_
#define RINGSCOPE_FORMATS_SQLITE_SQLITE_SCHEMA_H_

#include "formats/io/output_file.h"

namespace ringscope {

// The database that `ringscope export` writes. The comments inside the statements are a part of it:
// `.schema` of the sqlite3 shell shows them.

/// Version of the schema, as the database's user_version: counts changes that break queries.
inline constexpr int kSqliteSchemaVersion = 2;
/// The database's application_id: "rgsc".
inline constexpr int kSqliteApplicationId = 0x72677363;

/// Whether a file begins as such a database.
bool IsOwnDatabase(Bytes start);
inline constexpr OutputKind kDatabaseOutput = {"a database", false, IsOwnDatabase};

extern const char* const kSqliteTables;
/// Run when all rows are in.
extern const char* const kSqliteIndexes;
extern const char* const kSqliteViews;

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_SQLITE_SQLITE_SCHEMA_H_
