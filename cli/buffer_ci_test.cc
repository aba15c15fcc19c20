// The workflow for buffer authors: the commands of its steps are run as it has them.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "commands/testing/memory_run.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

namespace fs = std::filesystem;

TEST(BufferCi, CommandsOfTheWorkflow_Run) {
  const TempFolder folder;
  fs::create_symlink(RS_BINARY, folder.File("ringscope"));
  fs::create_symlink(RS_PLUGINS "/perfetto_58.so", folder.File("new.so"));
  fs::create_directory(folder.File("cases"));
  const std::string some_case = "scenario-v2-Fragments_DiscardedOnPacketSizeDropPacket.jsonl.zst";
  fs::copy_file(RS_UNPACKED "/conformance/cases/" + some_case, folder.File("cases/" + some_case));
  size_t run = 0;
  const std::string workflow = ReadFile(RS_SOURCE_DIR "/share/ringscope/buffer-ci.yml");
  for (const std::string_view line : testing::Lines(workflow)) {
    const size_t begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos || (!line.substr(begin).starts_with("ringscope diff ") &&
                                            !line.substr(begin).starts_with("ringscope fuzz ")))
      continue;
    SCOPED_TRACE(line);
    ++run;
    std::ofstream(folder.File("script"))
        << "cd '" << folder.path() << "'; PATH=.:$PATH cases=cases SIDE_A=v2@58 FUZZ_TIME=1s\n"
        << "status=0; " << line.substr(begin) << "\nexit $status\n";
    const int status = std::system(("bash -e '" + folder.File("script") + "' 2>&1").c_str());
    // The stand-in behaves as the release.
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  EXPECT_EQ(run, 2u);
}

}  // namespace
}  // namespace ringscope
