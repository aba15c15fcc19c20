// The memory that a replay takes: buffers, a fixed allowance, and a little for each chunk held and
// each sequence; however long the log. RINGSCOPE_MEMORY_LOG_BYTES sets the log's size (default
// 64 MB; the figures in docs/benchmarks.md are from 6.4 GB as well).

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include "formats/inputs/open_log.h"
#include "formats/io/output_file.h"
#include "formats/testing/generate_log.h"
#include "formats/testing/generate_trace.h"
#include "formats/testing/hostile_traces.h"

namespace ringscope {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kAllowance = 64 * kMiB;
constexpr uint64_t kPerChunk = 64;
constexpr uint64_t kPerSequence = 256;

/// The VmHWM of a process, in bytes; 0 if it has no memory any more.
uint64_t PeakMemory(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  return 0;
}

/// Runs the tool, its output thrown away. What wait4 reports would include this process's own
/// memory, which a child has up to its exec: so the child is looked at when it ends.
/// @return its peak resident memory in bytes
/// @param expected the tool's exit status
uint64_t PeakMemoryOf(std::vector<std::string> args, int expected = 0) {
  args.insert(args.begin(), RS_BINARY);
  std::vector<char*> argv;
  for (std::string& arg : args) argv.push_back(arg.data());
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (std::freopen("/dev/null", "w", stdout) == nullptr) ::_exit(126);
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);  // stops it at the exec
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(::ptrace(PTRACE_SETOPTIONS, pid, nullptr, PTRACE_O_TRACEEXIT), 0);
  uint64_t peak = 0;
  for (int signal = 0; WIFSTOPPED(status);) {
    if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8)) peak = PeakMemory(pid);
    ::ptrace(PTRACE_CONT, pid, nullptr, signal);
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == expected) << "status " << status;
  return peak;
}

struct MemoryCase {
  const char* name;
  uint32_t writers;
  uint64_t buffer_size;
};
void PrintTo(const MemoryCase& test, std::ostream* out) { *out << test.name; }

class MemoryTest : public ::testing::TestWithParam<MemoryCase> {};

INSTANTIATE_TEST_SUITE_P(Replay, MemoryTest,
                         ::testing::Values(MemoryCase{"FewSequences", 50, 64 * kMiB},
                                           MemoryCase{"SmallBuffer", 50, kMiB},
                                           MemoryCase{"ManySequences", 1'000'000, 4 * kMiB}),
                         [](const auto& test) { return test.param.name; });

TEST_P(MemoryTest, StaysWithinItsBound) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory would be measured";
  testing::GeneratedLog log;
  log.chunk_bytes = 64'000'000;
  if (const char* bytes = std::getenv("RINGSCOPE_MEMORY_LOG_BYTES"))
    log.chunk_bytes = std::strtoull(bytes, nullptr, 10);
  log.writers = GetParam().writers;
  log.buffer_size = GetParam().buffer_size;
  const std::string path = fmt::format("{}/ringscope-memory-{}-{}.tblog", ::testing::TempDir(),
                                       GetParam().name, ::getpid());
  {
    auto file = OutputFile::Create(path, {"a test file"}, Replace::kAny).value();
    ASSERT_TRUE(testing::GenerateLog(log, *file));
    ASSERT_TRUE(file->Commit());
  }
  const LogInfo info = ReadLogInfo(OpenByteSource(path).value()).value();
  const uint64_t sequences = info.sessions.at(0).sequences.size();
  const uint64_t chunks = log.buffer_size / 2048;  // none of the log's chunks is smaller
  const uint64_t bound =
      log.buffer_size + kAllowance + kPerChunk * chunks + kPerSequence * sequences;
  const std::string trace = path + ".pftrace";
  const uint64_t peak = PeakMemoryOf({"replay", path, "-o", trace});
  std::filesystem::remove(path);
  std::filesystem::remove(trace);
  fmt::print("log {} MB, buffer {} MiB, {} sequences: peak {:.1f} MiB, bound {:.1f} MiB\n",
             log.chunk_bytes / 1'000'000, log.buffer_size / kMiB, sequences,
             static_cast<double>(peak) / kMiB, static_cast<double>(bound) / kMiB);
  EXPECT_LE(peak, bound);
}

/// Writes a made-up trace of 200 MB, or of RINGSCOPE_MEMORY_LOG_BYTES. @return its path
std::string WriteTrace(testing::GeneratedTrace& trace) {
  trace.packet_bytes = 200'000'000;
  if (const char* bytes = std::getenv("RINGSCOPE_MEMORY_LOG_BYTES"))
    trace.packet_bytes = std::strtoull(bytes, nullptr, 10);
  trace.sequences = 200;
  const std::string path =
      fmt::format("{}/ringscope-memory-{}.pftrace", ::testing::TempDir(), ::getpid());
  auto file = OutputFile::Create(path, {"a test file"}, Replace::kAny).value();
  EXPECT_TRUE(testing::GenerateTrace(trace, *file));
  EXPECT_TRUE(file->Commit());
  return path;
}

void ExpectWithin(uint64_t bound, uint64_t peak, const testing::GeneratedTrace& trace) {
  fmt::print("trace {} MB: peak {:.1f} MiB, bound {:.1f} MiB\n", trace.packet_bytes / 1'000'000,
             static_cast<double>(peak) / kMiB, static_cast<double>(bound) / kMiB);
  EXPECT_LE(peak, bound);
}

// Compressed packets in it are decompressed one after the other.
TEST(DoctorMemoryTest, StaysWithinItsBound) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory would be measured";
  for (const bool compressed : {false, true}) {
    testing::GeneratedTrace trace;
    trace.compressed = compressed;
    const std::string path = WriteTrace(trace);
    const uint64_t peak = PeakMemoryOf({"doctor", path}, 3);  // it has findings
    std::filesystem::remove(path);
    ExpectWithin(kAllowance, peak, trace);
  }
}

/// Writes the file in a process of its own, as what a test takes counts as its children's memory.
void WriteApart(const std::string& path, const testing::HostileTraces::Case& hostile) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    auto file = OutputFile::Create(path, {"a test file"}, Replace::kAny).value();
    const bool is_written = file->Write(hostile.make()) && file->Commit();
    ::_exit(is_written ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
}

// Files made to exhaust their reader: see formats/trace/hostile_trace_test.cc.
TEST(DoctorMemoryTest, HostileTracesStayWithinItsBound) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory would be measured";
  const std::string path =
      fmt::format("{}/ringscope-hostile-{}.pftrace", ::testing::TempDir(), ::getpid());
  for (const testing::HostileTraces::Case& hostile : testing::HostileTraces::All()) {
    WriteApart(path, hostile);
    constexpr uint64_t kBound = 100 * kMiB;
    const uint64_t peak = PeakMemoryOf({"doctor", path}, 3);
    fmt::print("{}: peak {:.1f} MiB\n", hostile.name, static_cast<double>(peak) / kMiB);
    EXPECT_LE(peak, kBound) << hostile.name;
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace ringscope
