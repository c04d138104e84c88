// steertag-serve as a process of its own, over every provider.
// Mounted, written to, read from, and ended by a signal.
#include <poll.h>
#include <spawn.h>
#include <sys/inotify.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "client/nfs3/nfs3_client.h"
#include "fabric/testing/provider_suite.h"
#include "server/testing/temporary_directory.h"

namespace steertag::serve {
namespace {

using fabric::testing::Factory;
using peer::Nfs3Client;
using peer::testing::TemporaryDirectory;

constexpr int kStartMs = 20000;

std::string program() {
  const char* const named = std::getenv("STEERTAG_SERVE");
  return named == nullptr ? STEERTAG_SERVE_PATH : named;
}

/// The program, listening.
class Running {
 public:
  explicit Running(const std::string& listen) {
    const int watch = ::inotify_init1(IN_CLOEXEC);
    ::inotify_add_watch(watch, directory_.path().c_str(), IN_MOVED_TO);
    std::vector<std::string> words{program(), "--listen", listen, "--port-file",
                                   directory_.path() + "/port"};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (::posix_spawn(&pid_, words[0].c_str(), nullptr, nullptr, arguments.data(), environ) != 0)
      pid_ = 0;
    pollfd moved{watch, POLLIN, 0};
    ::poll(&moved, 1, kStartMs);
    ::close(watch);
    std::ifstream(words.back()) >> port_;
  }
  ~Running() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    wait();
  }
  /// 0 if it did not start.
  int port() const { return port_; }
  /// Its exit status after SIGTERM.
  int end() {
    ::kill(pid_, SIGTERM);
    return wait();
  }

 private:
  int wait() {
    int status = -1;
    if (pid_ > 0) ::waitpid(std::exchange(pid_, 0), &status, 0);
    return status;
  }

  TemporaryDirectory directory_;
  pid_t pid_ = 0;
  int port_ = 0;
};

class ServeTest : public ::testing::TestWithParam<Factory> {};

TEST_P(ServeTest, ServesFilesAndEndsWell) {
  const std::string place = GetParam().name + "://" + GetParam().host + ":";
  Running running(place + "0");
  ASSERT_GT(running.port(), 0) << "it does not listen";
  const std::unique_ptr<fabric::Provider> provider = GetParam().make({}, {});
  Nfs3Client client(*provider, *fabric::parse_url(place + std::to_string(running.port())), {}, 1);
  using nfs3::Procedure;
  const auto null = client.call<nfs3::Void>(Procedure::NFSPROC3_NULL, nfs3::Void{});
  ASSERT_TRUE(null) << null.error().message();
  const auto mounted = client.mount("/export");
  ASSERT_TRUE(mounted) << mounted.error().message();
  nfs3::CreateArgs create;
  create.where = {mounted->fhandle, "file"};
  const auto created = client.call<nfs3::CreateResult>(Procedure::NFSPROC3_CREATE, create);
  ASSERT_TRUE(created && created->ok.obj);
  const nfs3::FileHandle file = *created->ok.obj;
  const Bytes data = fabric::testing::pattern(100000);
  nfs3::WriteArgs write;
  write.file = file;
  write.count = static_cast<std::uint32_t>(data.size());
  write.data = data;
  const auto written = client.call<nfs3::WriteResult>(Procedure::NFSPROC3_WRITE, write);
  ASSERT_TRUE(written) << written.error().message();
  EXPECT_EQ(written->ok.count, data.size());
  const auto read =
      client.call<nfs3::ReadResult>(Procedure::NFSPROC3_READ, nfs3::ReadArgs{file, 0, write.count});
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_TRUE(std::ranges::equal(read->ok.data, data));
  EXPECT_EQ(running.end(), 0);
}

STEERTAG_BETWEEN_PROCESSES(ServeTest);

}  // namespace
}  // namespace steertag::serve
