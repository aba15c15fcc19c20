#include "commands/plugin/host_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <new>
#include <utility>

#include "commands/plugin/plugin_host.h"
#include "commands/shell/text.h"
#include "formats/io/descriptor_io.h"

namespace ringscope {
namespace {

/// Calls without an answer are handed over when there are so many bytes of them.
constexpr uint32_t kBatchBytes = uint32_t{1} << 16;
/// After so many bytes without a wait, the limits are looked at all the same.
constexpr uint64_t kUncheckedBytes = uint64_t{16} << 20;
constexpr size_t kKeptOutput = 4096;
constexpr size_t kShownLines = 8;
/// An answer has no more than this, beyond what was committed: descriptions, statistics.
constexpr uint64_t kAnswerBytes = uint64_t{1} << 20;
constexpr std::chrono::nanoseconds kFirstSleep = std::chrono::milliseconds(1);
constexpr std::chrono::nanoseconds kLongestSleep = std::chrono::milliseconds(50);

tl::unexpected<Error> StartError(const char* what) {
  const int error = errno;
  return SystemError(fmt::format("cannot start a process for a plug-in: {}", what), error, {},
                     "--in-process runs it as part of ringscope");
}

template <typename T>
Bytes BytesOf(const T& value) {
  return {reinterpret_cast<const uint8_t*>(&value), sizeof(value)};
}

}  // namespace

void HostProcess::Unmap::operator()(HostMemory* memory) const {
  ::munmap(memory, sizeof(HostMemory));
}

Result<std::unique_ptr<HostProcess>> HostProcess::Start(const PluginRun& run) {
  std::unique_ptr<HostProcess> host(new HostProcess(run));
  RS_RETURN_IF_ERROR(host->Launch());
  return host;
}

Status HostProcess::Launch() {
  UniqueFd shared(::memfd_create("ringscope-plugin", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!shared.valid() || ::ftruncate(shared.get(), sizeof(HostMemory)) != 0)
    return StartError("shared memory");
  // Were it to shrink, reading it would end this process, too.
  if (::fcntl(shared.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return StartError("sealing shared memory");
  void* const mapped =
      ::mmap(nullptr, sizeof(HostMemory), PROT_READ | PROT_WRITE, MAP_SHARED, shared.get(), 0);
  if (mapped == MAP_FAILED) return StartError("mapping shared memory");
  memory_.reset(new (mapped) HostMemory);
  calls_.emplace(memory_->calls, memory_->call_bytes.data(), kCallRingBytes);
  answers_.emplace(memory_->answers, memory_->answer_bytes.data(), kAnswerRingBytes);
  int life[2], output[2];
  if (::pipe2(life, O_CLOEXEC) != 0) return StartError("a pipe");
  const UniqueFd their_life(life[0]);
  lifeline_ = UniqueFd(life[1]);
  if (::pipe2(output, O_CLOEXEC) != 0) return StartError("a pipe");
  output_ = UniqueFd(output[0]);
  const UniqueFd their_output(output[1]);
  ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  RS_ASSIGN_OR_RETURN(child_, ChildProcess::Start(
                                  {kPluginHostProgram, kPluginHostArgument,
                                   std::to_string(shared.get()), std::to_string(their_life.get())},
                                  {},
                                  {.output = their_output.get(),
                                   .inherited = {shared.get(), their_life.get()},
                                   .hint = "--in-process runs plug-ins as part of ringscope"}));
  return {};
}

HostProcess::~HostProcess() {
  if (child_ == nullptr || death_) return;
  child_->Kill();
  child_->TakeEnding();
}

bool HostProcess::IsAlive() {
  if (!death_ && child_->has_ended()) Die(child_->TakeEnding());
  return !death_;
}

bool HostProcess::SendParts(CallHead& head, std::initializer_list<Bytes> parts) {
  if (keep_) std::exchange(keep_, nullptr)();
  head.size = 0;
  for (const Bytes part : parts) head.size += static_cast<uint32_t>(part.size());
  sent_bytes_ += head.size;
  unchecked_bytes_ += head.size;
  deadline_ = {};
  if (death_ || (unchecked_bytes_ > kUncheckedBytes && !IsWithinLimits())) return false;
  last_record_ = head.record;
  if (!Write(BytesOf(head))) return false;
  return std::all_of(parts.begin(), parts.end(), [this](Bytes part) { return Write(part); });
}

void HostProcess::Send(CallHead head, std::initializer_list<Bytes> parts) {
  head.wants_answer = 0;
  if (SendParts(head, parts) && calls_->unpublished() >= kBatchBytes) calls_->Publish();
}

int64_t HostProcess::Call(CallHead head, std::initializer_list<Bytes> parts,
                          const TakeAnswer& take) {
  if (!SendParts(head, parts)) return 0;
  calls_->Publish();
  while (const std::optional<Answer> answer = TakeAnswerFromRing()) {
    MessageReader body(answer->body);
    if (answer->answer == HostAnswer::kDone) {
      const auto value = body.Take<int64_t>();
      if (body.is_whole()) return value;
    } else if (take(answer->answer, body)) {
      continue;
    }
    DieOfNonsense(fmt::format("an answer of kind {} that is not possible",
                              static_cast<uint32_t>(answer->answer)));
    return 0;
  }
  return 0;
}

void HostProcess::Begin(CallHead head, std::function<void()> keep) {
  if (!SendParts(head, {})) return;
  calls_->Publish();
  keep_ = std::move(keep);
}

std::optional<HostProcess::Answer> HostProcess::NextAnswer() {
  deadline_ = {};
  std::optional<Answer> answer = TakeAnswerFromRing();
  if (!answer || answer->answer == HostAnswer::kDone) keep_ = nullptr;
  return answer;
}

void HostProcess::Abandon() {
  if (!keep_) return;
  keep_ = nullptr;
  Die("was ended");
}

std::optional<HostProcess::Answer> HostProcess::TakeAnswerFromRing() {
  AnswerHead head;
  if (death_ || !Read(reinterpret_cast<uint8_t*>(&head), sizeof(head))) return std::nullopt;
  // Each byte that was sent may have become a packet's slice, which has a few bytes of its own.
  const uint64_t most = kAnswerBytes + sent_bytes_ * (1 + sizeof(SliceBody));
  if (static_cast<uint32_t>(head.answer) >= kHostAnswers || head.size > most) {
    DieOfNonsense(fmt::format("an answer of kind {} with {} bytes",
                              static_cast<uint32_t>(head.answer), head.size));
    return std::nullopt;
  }
  // A large one grows as it arrives: there may be less than its size.
  body_.clear();
  for (size_t left = head.size; left > 0;) {
    const size_t part = std::min<size_t>(left, kAnswerRingBytes);
    body_.resize(body_.size() + part);
    if (!Read(body_.data() + body_.size() - part, part)) return std::nullopt;
    left -= part;
  }
  answers_->Release();
  if (++answers_taken_ % 4096 == 0 && !IsWithinLimits()) return std::nullopt;
  return Answer{head.answer, body_};
}

bool HostProcess::Write(Bytes bytes) {
  while (!bytes.empty()) {
    if (death_) return false;
    const std::optional<uint32_t> space = calls_->Space();
    if (!space) {
      DieOfNonsense("more calls taken than were sent");
      return false;
    }
    if (*space == 0) {
      calls_->Publish();
      const bool done = Await([&] { return calls_->Space() != std::optional<uint32_t>(0); },
                              [&](auto time) { calls_->WaitForSpace(time); });
      if (!done) return false;
      continue;
    }
    const size_t count = std::min<size_t>(*space, bytes.size());
    calls_->Put(bytes.first(count));
    bytes = bytes.subspan(count);
  }
  return !death_;
}

bool HostProcess::Read(uint8_t* to, size_t count) {
  while (count > 0) {
    std::optional<uint32_t> available = answers_->Available();
    if (available && *available == 0) {
      answers_->Release();
      const bool done = Await([&] { return answers_->Available() != std::optional<uint32_t>(0); },
                              [&](auto time) { answers_->WaitForBytes(time); });
      if (!done) return false;
      available = answers_->Available();
    }
    if (!available) {
      DieOfNonsense("more answers than there is space for");
      return false;
    }
    const auto part = static_cast<uint32_t>(std::min<size_t>(*available, count));
    answers_->Take(to, part);
    to += part;
    count -= part;
  }
  return true;
}

template <typename Ready, typename Sleep>
bool HostProcess::Await(Ready ready, Sleep sleep) {
  if (ready()) return true;
  for (int left = spins_.Next(); left > 0; --left) {
    SpinPause();
    if (!ready()) continue;
    spins_.Succeeded();
    return true;
  }
  spins_.Failed();
  for (std::chrono::nanoseconds time = kFirstSleep; !ready();
       time = std::min(2 * time, kLongestSleep)) {
    sleep(time);
    if (ready()) return true;
    const bool has_ended = child_->has_ended();
    if (has_ended && ready()) return true;  // it answered first
    if (has_ended) {
      Die(child_->TakeEnding());
      return false;
    }
    if (!IsWithinLimits()) return false;
  }
  return true;
}

bool HostProcess::IsWithinLimits() {
  unchecked_bytes_ = 0;
  ReadOutput();
  const Clock::time_point now = Clock::now();
  if (deadline_ == Clock::time_point())
    deadline_ = now + std::chrono::nanoseconds(run_.time_limit_ns);
  if (MemoryInUse() > run_.memory_limit) {
    Die(fmt::format("was ended, as it used more than {} of memory (--plugin-memory),",
                    HumanSize(run_.memory_limit)));
  } else if (now >= deadline_) {
    Die(fmt::format("was ended, as it did not answer within {} s (--plugin-time),",
                    static_cast<double>(run_.time_limit_ns) / 1e9));
  }
  return !death_;
}

uint64_t HostProcess::MemoryInUse() const {
  std::ifstream file(fmt::format("/proc/{}/statm", child_->pid()));
  uint64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

void HostProcess::ReadOutput() {
  ReadWhatIsThere(output_.get(), [this](std::string_view part) {
    last_output_.append(part);
    if (last_output_.size() > kKeptOutput) last_output_.erase(0, last_output_.size() - kKeptOutput);
  });
}

void HostProcess::Die(const std::string& how) {
  if (death_) return;
  // What it printed before it ended is in the pipe.
  child_->Kill();
  if (!child_->has_been_taken()) child_->TakeEnding();
  ReadOutput();
  death_ = {
      .how = fmt::format("{} {}", how.empty() ? "ended itself with status 0" : how, CallUnderWay()),
      .details = DeathDetails()};
}

void HostProcess::DieOfNonsense(const std::string& what) {
  Die(fmt::format("was ended, as its answers in the shared memory are impossible ({}),", what));
}

std::string HostProcess::CallUnderWay() const {
  // Written by the process: it may be anything.
  const uint32_t call = memory_->call.load();
  return call == 0 || call >= kEnumNames<HostCall>.size()
             ? "between two calls"
             : fmt::format("in '{}'", kEnumNames<HostCall>[call]);
}

/// The record, and what the process printed last.
std::string HostProcess::DeathDetails() const {
  const uint64_t record = memory_->record.load();  // written by the process, too
  std::string details;
  if (record > 0 && record <= last_record_) details = fmt::format("at record {}", record - 1);
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < last_output_.size();) {
    const size_t end = std::min(last_output_.find('\n', begin), last_output_.size());
    if (end > begin) lines.push_back(Printable(last_output_.substr(begin, end - begin)));
    begin = end + 1;
  }
  if (lines.empty()) return details;
  std::string text;
  for (size_t i = lines.size() - std::min(lines.size(), kShownLines); i < lines.size(); ++i)
    text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", lines[i]);
  return fmt::format("{}{}it printed last: {}", details, details.empty() ? "" : "; ", text);
}

}  // namespace ringscope
