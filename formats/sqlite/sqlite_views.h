#ifndef RINGSCOPE_FORMATS_SQLITE_SQLITE_VIEWS_H_
#define RINGSCOPE_FORMATS_SQLITE_SQLITE_VIEWS_H_

namespace ringscope {

// What the database of `ringscope export` has beside its tables. Both are made when all rows are
// in.

extern const char* const kSqliteIndexes;
/// The questions that users ask of the tables, as views; the comments are a part of them.
extern const char* const kSqliteViews;

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_SQLITE_SQLITE_VIEWS_H_
