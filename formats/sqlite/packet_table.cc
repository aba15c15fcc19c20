#include "formats/sqlite/packet_table.h"

#include "core/perfetto/packet_facts.h"

namespace ringscope {
namespace {

constexpr int kColumns = 31;

/// Of a packet that came out of the buffer alone.
template <typename T>
std::optional<T> IfOut(const PacketAccount& account, T value) {
  const bool out = account.fate == Fate::kRead || account.fate == Fate::kInvalid;
  return out ? std::optional(value) : std::nullopt;
}

}  // namespace

PacketTable::PacketTable(SqliteFile& file) : insert_(file, "packets", kColumns) {}

void PacketTable::Insert(const RowBatch& batch) {
  batch_ = &batch;
  insert_.Insert(*this);
}

void PacketTable::Column(size_t row, int column, SqliteCell& cell) const {
  const PacketAccount& account = batch_->packets[row];
  const PacketFacts& facts = account.facts;
  switch (column) {
    case 0:  // id: SQLite counts the rows
      return;
    case 1:
      return cell.Put(batch_->session);
    case 2:
      return cell.Put(Raw(account.buffer));
    case 3:
      return cell.Put(Raw(account.sequence.producer));
    case 4:
      return cell.Put(Raw(account.sequence.writer));
    case 5:
      return cell.Put(account.first_chunk);
    case 6:
      return cell.Put(account.fragment);
    case 7:
      return cell.Put(account.first_offset);
    case 8:
      return cell.Put(account.last_chunk);
    case 9:
      return cell.Put(account.size);
    case 10:
      return cell.Put(NameOf(facts.content));
    case 11:
      if (!batch_->kinds[row].empty()) cell.Put(batch_->kinds[row]);
      return;
    case 12:
      return cell.Put(facts.timestamp);
    case 13:
      return cell.Put(facts.timestamp_clock);
    case 14:
      return cell.Put(facts.clears_state);
    case 15:
      return cell.Put(facts.needs_state);
    case 16:
      return cell.Put(facts.has_interned_data);
    case 17:
      return cell.Put(account.written.record);
    case 18:
      return cell.Put(account.written.time_ns);
    case 19:
      return cell.Put(std::string_view(Name(account.fate)));
    case 20:
      if (account.cause != Cause::kNone) cell.Put(std::string_view(Name(account.cause)));
      return;
    case 21:
      return cell.Put(account.own_fault);
    case 22:
      return cell.Put(account.decided.record);
    case 23:
      return cell.Put(account.decided.time_ns);
    case 24:
      return cell.Put(IfOut(account, account.pass));
    case 25:
      return cell.Put(IfOut(account, account.position));
    case 26:
      return cell.Put(account.loss_bits);
    case 27:
      if (account.culprit) cell.Put(Raw(account.culprit->sequence.producer));
      return;
    case 28:
      if (account.culprit) cell.Put(Raw(account.culprit->sequence.writer));
      return;
    case 29:
      if (account.culprit) cell.Put(Raw(account.culprit->chunk));
      return;
    case 30:
      if (account.waits_for) cell.Put(Raw(account.waits_for->chunk));
      return;
    default:
      return;
  }
}

std::string_view PacketTable::NameOf(uint32_t content) const {
  std::string& name = contents_[content];
  if (name.empty()) name = ContentName(content);
  return name;
}

}  // namespace ringscope
