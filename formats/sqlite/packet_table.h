#ifndef RINGSCOPE_FORMATS_SQLITE_PACKET_TABLE_H_
#define RINGSCOPE_FORMATS_SQLITE_PACKET_TABLE_H_

#include <string>
#include <unordered_map>

#include "formats/sqlite/row_queue.h"
#include "formats/sqlite/sqlite_rows.h"

namespace ringscope {

/// Writes the table of packets, by far the largest.
class PacketTable : private SqliteRows {
 public:
  explicit PacketTable(SqliteFile& file);

  void Insert(const RowBatch& batch);

 private:
  size_t count() const override { return batch_->packets.size(); }
  void Column(size_t row, int column, SqliteCell& cell) const override;
  std::string_view NameOf(uint32_t content) const;

  SqliteBulkInsert insert_;
  const RowBatch* batch_ = nullptr;                             // that is being inserted
  mutable std::unordered_map<uint32_t, std::string> contents_;  // names of those seen
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_SQLITE_PACKET_TABLE_H_
