#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "core/base/wire.h"
#include "formats/io/byte_stream.h"

namespace ringscope {
namespace {

// The reader takes nothing until the writer waits, and each signal interrupts that.
TEST(WriteAll, Interrupted_WritesOn) {
  struct sigaction before {
  }, action{};
  action.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGUSR2, &action, &before), 0);  // without SA_RESTART
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const std::string content(size_t{1} << 18, 'c');
  std::atomic<bool> is_written = false;
  std::thread writer([&] {
    const WriteOutcome outcome = WriteAll(ends[1], wire::AsBytes(content));
    EXPECT_EQ(outcome.error, 0);
    EXPECT_EQ(outcome.written, content.size());
    is_written = true;
    ::close(ends[1]);
  });
  std::string found;
  char part[4096];
  while (true) {
    if (!is_written) ::pthread_kill(writer.native_handle(), SIGUSR2);
    const ssize_t got = ::read(ends[0], part, sizeof(part));
    if (got <= 0) break;
    found.append(part, static_cast<size_t>(got));
  }
  writer.join();
  ::close(ends[0]);
  ASSERT_EQ(::sigaction(SIGUSR2, &before, nullptr), 0);
  EXPECT_EQ(found, content);
}

}  // namespace
}  // namespace ringscope
