#include "formats/io/embedded_file.h"
#include "formats/sqlite/sqlite_export.h"

RS_EMBED_FILE(SqliteTables, RS_SQLITE "/tables.sql")
RS_EMBED_FILE(SqliteViews, RS_SQLITE "/views.sql")
