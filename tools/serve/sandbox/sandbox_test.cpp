// What a process can do no more in the sandbox, tried from inside, each in a child.
#include "serve/sandbox/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>

#include "serve/sandbox/capabilities.h"
#include "wire/sanitized.h"

namespace steertag::serve {
namespace {

constexpr int kGood = 0;
constexpr int kBad = 1;

class Sandbox : public ::testing::Test {
 protected:
  Sandbox() {
    std::string name = (std::filesystem::temp_directory_path() / "sandbox-XXXXXX").string();
    place_ = ::mkdtemp(name.data());
    for (const char* folder : {"export", "export/inner", "recovery", "outside"})
      std::filesystem::create_directory(place_ / folder);
    for (const char* file : {"export/file", "outside/file"})
      ::close(::open((place_ / file).c_str(), O_CREAT | O_WRONLY, 0600));
    needs_.export_directory = at("export");
    needs_.recovery_file = at("recovery/clients");
  }
  ~Sandbox() override { std::filesystem::remove_all(place_); }

  std::string at(const char* name) const { return (place_ / name).string(); }

  /// 0, or the errno of an attempt to open.
  int open_error(const char* name, int flags) const {
    const int file = ::open(at(name).c_str(), flags | O_CLOEXEC, 0600);
    if (file < 0) return errno;
    ::close(file);
    return 0;
  }

  /// Enters the sandbox in a child, and ends it with the answer.
  [[noreturn]] void inside(const std::function<bool()>& holds) const {
    for (const std::string& line : enter_sandbox(needs_)) std::cerr << line << '\n';
    const bool good = holds();
    std::_Exit(good ? kGood : kBad);
  }

  std::filesystem::path place_;
  SandboxNeeds needs_;
};

#define EXPECT_INSIDE(...) \
  EXPECT_EXIT(inside([&]() -> bool { __VA_ARGS__ }), ::testing::ExitedWithCode(kGood), "^$")
#define EXPECT_KILLED(...)           \
  EXPECT_EXIT(inside([&]() -> bool { \
                __VA_ARGS__;         \
                return true;         \
              }),                    \
              ::testing::KilledBySignal(SIGSYS), "")

TEST_F(Sandbox, OpensNothingOutsideOfItsDirectories) {
  if (kSanitized) GTEST_SKIP() << "reports read the binary";
  EXPECT_INSIDE(return open_error("outside/file", O_RDONLY) == EACCES;);
  EXPECT_INSIDE(return open_error("outside/new", O_WRONLY | O_CREAT) == EACCES;);
  EXPECT_INSIDE(return ::open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES;);
  EXPECT_INSIDE(return ::open("/", O_RDONLY | O_DIRECTORY) < 0 && errno == EACCES;);
}

TEST_F(Sandbox, ExportIsUsedInFull) {
  EXPECT_INSIDE(return open_error("export/file", O_RDWR | O_TRUNC) == 0;);
  EXPECT_INSIDE(return open_error("export/new", O_RDWR | O_CREAT) == 0;);
  EXPECT_INSIDE(return ::mkdirat(AT_FDCWD, at("export/made").c_str(), 0700) == 0;);
  EXPECT_INSIDE(return ::symlinkat("x", AT_FDCWD, at("export/link").c_str()) == 0;);
  EXPECT_INSIDE(return ::mknodat(AT_FDCWD, at("export/fifo").c_str(), S_IFIFO | 0600, 0) == 0;);
  EXPECT_INSIDE(return ::linkat(AT_FDCWD, at("export/file").c_str(), AT_FDCWD,
                                at("export/inner/hard").c_str(), 0) == 0;);
  EXPECT_INSIDE(return ::rename(at("export/file").c_str(), at("export/inner/file").c_str()) == 0;);
  EXPECT_INSIDE(return ::unlink(at("export/inner/file").c_str()) == 0;);
}

TEST_F(Sandbox, NothingLeavesTheExport) {
  EXPECT_INSIDE(return ::rename(at("export/file").c_str(), at("outside/stolen").c_str()) != 0;);
  EXPECT_INSIDE(return ::linkat(AT_FDCWD, at("outside/file").c_str(), AT_FDCWD,
                                at("export/stolen").c_str(), 0) != 0;);
}

TEST_F(Sandbox, ReadOnlyExportIsOnlyRead) {
  needs_.read_only = true;
  EXPECT_INSIDE(return open_error("export/file", O_RDONLY) == 0;);
  EXPECT_INSIDE(return open_error("export/file", O_WRONLY) == EACCES;);
  EXPECT_INSIDE(return open_error("export/new", O_WRONLY | O_CREAT) == EACCES;);
  EXPECT_INSIDE(return ::unlink(at("export/file").c_str()) != 0 && errno == EACCES;);
}

TEST_F(Sandbox, RecoveryFileIsReplaced) {
  EXPECT_INSIDE(return open_error("recovery/clients.new", O_WRONLY | O_CREAT | O_TRUNC) == 0 &&
                           ::rename(at("recovery/clients.new").c_str(),
                                    at("recovery/clients").c_str()) == 0 &&
                           open_error("recovery", O_RDONLY | O_DIRECTORY) == 0;);
  EXPECT_INSIDE(return ::mkdirat(AT_FDCWD, at("recovery/made").c_str(), 0700) != 0;);
}

TEST_F(Sandbox, WhoJoinsOthersHasUnixSocketsAlone) {
  EXPECT_INSIDE(return ::socket(AF_UNIX, SOCK_STREAM, 0) < 0 && errno == EPERM;);
  needs_.joins_others = true;
  EXPECT_INSIDE(return ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0;);
  EXPECT_INSIDE(return ::socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM;);
}

TEST_F(Sandbox, ForbiddenCallsFail) {
  EXPECT_INSIDE(return ::socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM;);
  EXPECT_INSIDE(return ::syscall(SYS_setuid, 0) < 0 && errno == EPERM;);
  if (kSanitized) GTEST_SKIP() << "reports need the other calls";
  EXPECT_INSIDE(return ::kill(::getppid(), 0) < 0 && errno == EPERM;);
  EXPECT_INSIDE(return ::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) < 0 && errno == EPERM;);
  EXPECT_INSIDE(return ::syscall(SYS_clone3, nullptr, 0) < 0 && errno == ENOSYS;);
}

TEST_F(Sandbox, MemoryDoesNotBecomeCode) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer loads its symbolizer";
  constexpr int kHow = MAP_PRIVATE | MAP_ANONYMOUS;
  constexpr std::size_t kLength = 4096;
  EXPECT_INSIDE(return ::mmap(nullptr, kLength, PROT_READ | PROT_EXEC, kHow, -1, 0) == MAP_FAILED &&
                           errno == EPERM;);
  EXPECT_INSIDE(void* page = ::mmap(nullptr, kLength, PROT_READ | PROT_WRITE, kHow, -1, 0);
                return page != MAP_FAILED && ::mprotect(page, kLength, PROT_READ) == 0 &&
                       ::mprotect(page, kLength, PROT_READ | PROT_EXEC) != 0;);
}

TEST_F(Sandbox, CallsOfAnAttackerEndTheProcess) {
  if (kSanitized) GTEST_SKIP() << "reports need some of them";
  const char* const nothing[] = {nullptr};
  EXPECT_KILLED(::execve("/bin/true", const_cast<char**>(nothing), const_cast<char**>(nothing)));
  EXPECT_KILLED(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr));
  EXPECT_KILLED(::syscall(SYS_open_by_handle_at, AT_FDCWD, nullptr, 0));
  EXPECT_KILLED(::syscall(SYS_unshare, 0));
}

TEST_F(Sandbox, AbortIsReportedAsOne) {
  EXPECT_EXIT(inside([]() -> bool { std::abort(); }), ::testing::KilledBySignal(SIGABRT), "");
}

std::uint64_t effective_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
  EXPECT_EQ(0, ::syscall(SYS_capget, &header, sets));
  return (std::uint64_t{sets[1].effective} << 32) | sets[0].effective;
}

/// Ends the process well if these capabilities of the present ones are left. Not by `inside`, whose
/// filter refuses to ask.
[[noreturn]] void check_capabilities(const SandboxNeeds& needs, std::uint64_t left) {
  const std::uint64_t before = effective_capabilities();
  const auto reason = drop_capabilities(needs);
  std::_Exit(!reason && effective_capabilities() == (before & left) ? kGood : kBad);
}

constexpr std::uint64_t bit(int capability) {
  return std::uint64_t{1} << capability;
}

TEST_F(Sandbox, OnlyCapabilitiesOfTheNeedAreLeft) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root has some";
  const auto good = ::testing::ExitedWithCode(kGood);
  EXPECT_EXIT(check_capabilities({}, 0), good, "");
  const std::uint64_t writable =
      bit(CAP_CHOWN) | bit(CAP_DAC_OVERRIDE) | bit(CAP_FOWNER) | bit(CAP_FSETID) | bit(CAP_MKNOD);
  EXPECT_EXIT(check_capabilities({at("export"), false, "", false}, writable), good, "");
  EXPECT_EXIT(check_capabilities({at("export"), true, "", false}, bit(CAP_DAC_READ_SEARCH)), good,
              "");
  EXPECT_EXIT(check_capabilities({{}, false, at("clients"), false}, bit(CAP_DAC_OVERRIDE)), good,
              "");
}

/// Makes a system call fail as on a kernel that does not have it.
void take_away(int number) {
  const auto filter = ::seccomp_init(SCMP_ACT_ALLOW);
  ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), number, 0);
  ::seccomp_load(filter);
  ::seccomp_release(filter);
}

TEST_F(Sandbox, KernelWithoutLandlockIsNamedAndTheRestHolds) {
  EXPECT_EXIT(
      {
        take_away(SCMP_SYS(landlock_create_ruleset));
        inside([] { return ::socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM; });
      },
      ::testing::ExitedWithCode(kGood), "^sandbox without Landlock: Function not implemented\n$");
}

TEST_F(Sandbox, KernelWithoutFiltersIsNamedAndTheRestHolds) {
  EXPECT_EXIT(
      {
        take_away(SCMP_SYS(seccomp));
        inside([&] { return kSanitized || open_error("outside/file", O_RDONLY) == EACCES; });
      },
      ::testing::ExitedWithCode(kGood), "sandbox without a seccomp filter: [^\n]*\n$");
}

TEST_F(Sandbox, DevicesAreToldOf) {
  needs_.has_devices = true;
  EXPECT_EXIT(inside([] { return true; }), ::testing::ExitedWithCode(kGood),
              "^sandbox without dropped capabilities and Landlock: [^\n]*\n$");
}

}  // namespace
}  // namespace steertag::serve
