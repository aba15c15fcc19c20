#ifndef RINGSCOPE_CORE_TESTING_SMB_MODEL_H_
#define RINGSCOPE_CORE_TESTING_SMB_MODEL_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/wire.h"
#include "core/perfetto/commit_request.h"
#include "core/smb/memory_story.h"
#include "core/smb/picture_codec.h"

namespace ringscope::testing {

inline constexpr ProducerId kModelProducer{1};

/// What a writer does with a chunk, if it always finds one. Jobs of a writer are in order.
struct ModelJob {
  uint16_t writer = 0;
  uint64_t taken_ns = 0;
  uint64_t returned_ns = 0;  // after the next one is taken: then it is full; smb::kNotOver: never
  uint64_t freed_ns = 0;
  uint32_t packets = 0;
};

/// What the producer itself knows.
struct ModelOutcome {
  uint64_t refused = 0;
  uint64_t packets = 0;  // of the refused jobs that would have been committed
  uint64_t flagged = 0;  // committed chunks that follow something refused
  uint64_t peak = 0;     // chunks in use
  uint64_t full_ns = 0;  // no chunk was free
  uint64_t waits = 0;
  uint64_t waited_ns = 0;
  uint64_t gave_up = 0;
  uint64_t early = 0;  // commits of what filled half of the memory
};

/// A producer with so many pages of 4 KiB, and a recorder that looks at them. It commits what was
/// returned at the times of the jobs, but all of it as soon as that fills half of the memory.
class ModelMemory {
 public:
  /// @param look_every so many changes there is a look, right after them
  /// @param layout 1 to 5: pages are divided into 1, 2, 4, 7 or 14 chunks
  explicit ModelMemory(uint64_t pages, uint64_t look_every = 1, uint32_t layout = 1)
      : layout_(layout << smb::PageBitmap::kLayoutShift),
        per_page_(smb::PageBitmap(layout_).chunks()),
        slots_(pages * per_page_),
        look_every_(look_every),
        last_(pages),
        now_(pages) {
    story_.Add({0, SharedMemorySetUp{kModelProducer, pages * 4096, 4096}});
    Look(0);
  }

  /// Writers drop what finds no chunk.
  ModelOutcome Run(const std::vector<ModelJob>& jobs) {
    for (const ModelJob& job : jobs)
      At(job.taken_ns, kTake, [&](uint64_t now) { TakeOrDrop(now, job); });
    const uint64_t end = RunAgenda();
    Look(end + 1);
    if (used_ == slots_.size()) outcome_.full_ns += end + 1 - full_since_;
    return outcome_;
  }

  /// Writers wait, by Perfetto's pauses, and do all that follows so much later. No looks.
  ModelOutcome RunWaiting(const std::vector<ModelJob>& jobs) {
    std::map<uint16_t, std::vector<ModelJob>> by_writer;
    for (const ModelJob& job : jobs) by_writer[job.writer].push_back(job);
    for (auto& [id, list] : by_writer) {
      waiting_[id].jobs = list;
      PlanRequest(waiting_[id], 0);
    }
    RunAgenda();
    return outcome_;
  }

  const smb::MemoryStory& story() const { return story_; }

 private:
  enum Order { kFree, kReturn, kCommit, kTake };
  struct Slot {
    bool used = false;
    smb::ChunkHolder holder;
  };
  struct Writer {
    std::vector<ModelJob> jobs;
    size_t job = 0;
    uint64_t late_ns = 0;
    uint64_t asked_ns = 0;
    uint64_t searches = 0;
    bool drops = false;
    bool has_full = false;  // the chunk of the job before waits for the next one
  };

  void At(uint64_t time_ns, Order order, std::function<void(uint64_t)> what) {
    agenda_.emplace(std::pair(time_ns, order), std::move(what));
  }
  uint64_t RunAgenda() {
    uint64_t now = 0;
    while (!agenda_.empty()) {
      auto first = agenda_.extract(agenda_.begin());
      now = first.key().first;
      first.mapped()(now);
    }
    return now;
  }

  void TakeOrDrop(uint64_t now, const ModelJob& job) {
    size_t slot = 0;
    while (slot < slots_.size() && slots_[slot].used) ++slot;
    if (slot == slots_.size()) {
      ++outcome_.refused;
      if (job.returned_ns != smb::kNotOver) outcome_.packets += job.packets;
      lossy_[job.writer] = true;
      return;
    }
    const smb::ChunkHolder holder{WriterId{job.writer}, ChunkId{next_chunk_[job.writer]++}};
    slots_[slot] = {true, holder};
    outcome_.peak = std::max(outcome_.peak, ++used_);
    if (used_ == slots_.size()) full_since_ = now;
    Set(now, slot, smb::ChunkState::kBeingWritten);
    if (job.returned_ns == smb::kNotOver) return;
    const bool follows_loss = std::exchange(lossy_[job.writer], false);
    At(job.returned_ns, kReturn, [=, this](uint64_t at) {
      Set(at, slot, smb::ChunkState::kComplete);
      Return(at, SentAt(job), [=, this](uint64_t sent) {
        Commit(sent, slot, holder, job.packets, follows_loss);
        At(sent + ServedIn(job), kFree, [this, slot](uint64_t freed) {
          slots_[slot].used = false;
          if (used_-- == slots_.size()) outcome_.full_ns += freed - full_since_;
          Set(freed, slot, smb::ChunkState::kFree);
        });
      });
    });
  }

  /// When the producer would commit the chunk if its memory were large, and for how long the
  /// service then has it.
  static uint64_t SentAt(const ModelJob& job) {
    return job.returned_ns + (job.freed_ns - job.returned_ns) / 2;
  }
  static uint64_t ServedIn(const ModelJob& job) { return job.freed_ns - SentAt(job); }
  void Return(uint64_t now, uint64_t due, std::function<void(uint64_t)> send) {
    const uint64_t number = returned_++;
    unsent_.emplace(number, std::move(send));
    const uint64_t bytes = unsent_.size() * smb::ChunkBytes(4096, per_page_);
    if (bytes >= last_.pages().size() * 4096 / 2) {
      ++outcome_.early;
      for (const auto& [which, waits] : std::exchange(unsent_, {})) waits(now);
      return;
    }
    At(std::max(now, due), kCommit, [this, number](uint64_t at) {
      const auto waits = unsent_.extract(number);
      if (!waits.empty()) waits.mapped()(at);
    });
  }

  void Set(uint64_t now, size_t slot, smb::ChunkState state) {
    const size_t page = slot / per_page_, chunk = slot % per_page_;
    const uint32_t states = (1u << smb::PageBitmap::kLayoutShift) - 1;
    uint32_t bits = now_.pages()[page].bits & states & ~(3u << (2 * chunk));
    bits |= static_cast<uint32_t>(state) << (2 * chunk);
    now_.SetBits(page, bits == 0 ? 0 : bits | layout_);
    now_.SetHolder(page, chunk, slots_[slot].holder);
    if (++changes_ % look_every_ == 0) Look(now);
  }
  void Look(uint64_t now) {
    SharedMemoryLook look{.producer = kModelProducer, .number = looks_, .whole = looks_ == 0};
    smb::AppendChanges(look.whole ? smb::MemoryPicture(last_.pages().size()) : last_, now_,
                       look.pages);
    ++looks_;
    last_ = now_;
    story_.Add({now, std::move(look)});
  }
  void Commit(uint64_t now, size_t slot, smb::ChunkHolder holder, uint32_t packets,
              bool follows_loss) {
    std::string data;
    AppendChunkHeader(data, {holder.chunk, holder.writer, static_cast<uint16_t>(packets), 0});
    for (uint32_t i = 0; i < packets; ++i)
      data += i == 0 && follows_loss ? "\x04\xd0\x02\x81\x02" : "\x02\x08\x01";
    outcome_.flagged += follows_loss ? 1 : 0;
    std::string request;
    CommitRequestBuilder(request).AddChunk({.page = slot / per_page_,
                                            .index = slot % per_page_,
                                            .target_buffer = 1,
                                            .data = wire::AsBytes(data),
                                            .incomplete = false});
    ringscope::Commit commit;
    commit.producer = kModelProducer;
    commit.origin = Origin::kShm;
    commit.request = wire::AsBytes(request);
    story_.Add({now, std::move(commit)});
  }

  void PlanRequest(Writer& writer, uint64_t now) {
    if (writer.job == writer.jobs.size()) return;
    At(std::max(now, writer.jobs[writer.job].taken_ns + writer.late_ns), kTake,
       [this, &writer](uint64_t at) { Request(writer, at); });
  }
  void Request(Writer& writer, uint64_t now) {
    constexpr uint64_t kPausesUs[] = {0, 8, 72, 584, 4680, 37'448, 100'000};
    const bool gets = used_ < slots_.size();
    if (!gets && !writer.drops) {
      if (writer.searches++ == 0) {
        writer.asked_ns = now;
        ++outcome_.waits;
      }
      if (writer.searches < 300) {
        const uint64_t pause = kPausesUs[std::min<uint64_t>(writer.searches, 7) - 1];
        At(now + pause * 1000, kTake, [this, &writer](uint64_t at) { Request(writer, at); });
        return;
      }
      ++outcome_.gave_up;
    }
    if (writer.searches > 0) {
      outcome_.waited_ns += now - writer.asked_ns;
      writer.late_ns += now - writer.asked_ns;
      writer.searches = 0;
    }
    const ModelJob& job = writer.jobs[writer.job];
    if (std::exchange(writer.has_full, false)) FreeLater(writer, held_[&writer], now);
    writer.drops = !gets;
    ++writer.job;
    if (gets) {
      ++used_;
      const bool is_last = writer.job == writer.jobs.size();
      if (!is_last && writer.jobs[writer.job].taken_ns <= job.returned_ns) {
        writer.has_full = true;
        held_[&writer] = job;
      } else if (job.freed_ns != smb::kNotOver) {
        FreeLater(writer, job, now);
      }
    }
    PlanRequest(writer, now);
  }
  void FreeLater(const Writer& writer, const ModelJob& job, uint64_t now) {
    const uint64_t late = writer.late_ns;
    At(std::max(now, job.returned_ns + late), kReturn, [this, job, late](uint64_t at) {
      Return(at, SentAt(job) + late, [this, job](uint64_t sent) {
        At(sent + ServedIn(job), kFree, [this](uint64_t) { --used_; });
      });
    });
  }

  const uint32_t layout_;  // as a bitmap has it
  const size_t per_page_;  // chunks
  std::vector<Slot> slots_;
  const uint64_t look_every_;
  std::multimap<std::pair<uint64_t, Order>, std::function<void(uint64_t)>> agenda_;
  smb::MemoryPicture last_, now_;
  smb::MemoryStory story_{1, 1'000'000};
  std::map<uint16_t, uint32_t> next_chunk_;
  std::map<uint16_t, bool> lossy_;
  std::map<uint16_t, Writer> waiting_;
  std::map<const Writer*, ModelJob> held_;
  std::map<uint64_t, std::function<void(uint64_t)>> unsent_;
  uint64_t returned_ = 0;
  ModelOutcome outcome_;
  uint64_t used_ = 0;
  uint64_t full_since_ = 0;
  uint64_t changes_ = 0;
  uint64_t looks_ = 0;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_CORE_TESTING_SMB_MODEL_H_
