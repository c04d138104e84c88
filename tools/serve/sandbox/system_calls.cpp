// A seccomp filter by libseccomp: a list of what is allowed.
#include "serve/sandbox/system_calls.h"

#include <seccomp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "wire/sanitized.h"

namespace steertag::serve {
namespace {

using Filter = std::unique_ptr<void, decltype(&::seccomp_release)>;

// Names, because an architecture may lack some of them; libc chooses between the variants.
constexpr const char* kAllowed[] = {
    // descriptors
    "read",
    "write",
    "readv",
    "writev",
    "pread64",
    "pwrite64",
    "preadv",
    "pwritev",
    "preadv2",
    "pwritev2",
    "close",
    "dup",
    "fcntl",
    "lseek",
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "epoll_create1",
    "epoll_ctl",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "eventfd2",
    // connections, which are accepted and never made
    "accept",
    "accept4",
    "recvfrom",
    "recvmsg",
    "recvmmsg",
    "sendto",
    "sendmsg",
    "sendmmsg",
    "shutdown",
    "getsockopt",
    "setsockopt",
    "getsockname",
    "getpeername",
    // files; where they are is up to openat2 and Landlock
    "open",
    "openat",
    "openat2",
    "stat",
    "lstat",
    "fstat",
    "newfstatat",
    "fstatat64",
    "statx",
    "statfs",
    "fstatfs",
    "access",
    "faccessat",
    "faccessat2",
    "getdents64",
    "readlink",
    "readlinkat",
    "name_to_handle_at",
    "mkdirat",
    "mknodat",
    "symlinkat",
    "linkat",
    "unlink",
    "unlinkat",
    "rename",
    "renameat",
    "renameat2",
    "ftruncate",
    "fallocate",
    "fsync",
    "fdatasync",
    "sync_file_range",
    "syncfs",
    "fchmod",
    "fchmodat",
    "fchown",
    "fchownat",
    "utimensat",
    "copy_file_range",
    "fadvise64",
    "getcwd",
    "umask",
    // memory; mmap and mprotect have rules of their own
    "brk",
    "munmap",
    "mremap",
    "madvise",
    // time, random octets, the process itself and its end
    "clock_gettime",
    "clock_getres",
    "clock_nanosleep",
    "nanosleep",
    "gettimeofday",
    "time",
    "getrandom",
    "futex",
    "sched_yield",
    "getpid",
    "gettid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getrlimit",
    "uname",
    "sysinfo",
    "getrusage",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sigreturn",
    "sigaltstack",
    "restart_syscall",
    "rseq",
    "set_robust_list",
    "membarrier",
    "exit",
    "exit_group",
};

// rdma-core asks devices by ioctl, and lists them over a netlink socket.
constexpr const char* kForDevices[] = {"ioctl", "socket", "bind", "mmap", "mprotect"};

// Reports start a thread that traces the others, or a symbolizer.
constexpr const char* kForSanitizers[] = {"getdents",
                                          "ptrace",
                                          "clone",
                                          "clone3",
                                          "vfork",
                                          "fork",
                                          "wait4",
                                          "prctl",
                                          "pipe",
                                          "pipe2",
                                          "dup2",
                                          "dup3",
                                          "kill",
                                          "tkill",
                                          "execve",
                                          "process_vm_readv",
                                          "getppid",
                                          "sched_getaffinity",
                                          "arch_prctl",
                                          "capget",
                                          "mmap",
                                          "mprotect",
                                          "set_tid_address",
                                          "personality",
                                          "ioctl",
                                          "sigaltstack",
                                          "prlimit64",
                                          "close_range",
                                          "pidfd_open",
                                          "rt_sigtimedwait",
                                          "setitimer",
                                          "tgkill"};

// No path of the server, of libc or of rdma-core leads here: whoever calls one has taken it over.
constexpr const char* kDeadly[] = {"execve",
                                   "execveat",
                                   "ptrace",
                                   "process_vm_readv",
                                   "process_vm_writev",
                                   "bpf",
                                   "init_module",
                                   "finit_module",
                                   "delete_module",
                                   "kexec_load",
                                   "kexec_file_load",
                                   "mount",
                                   "umount2",
                                   "pivot_root",
                                   "chroot",
                                   "unshare",
                                   "setns",
                                   "open_by_handle_at",
                                   "userfaultfd",
                                   "perf_event_open",
                                   "io_uring_setup",
                                   "add_key",
                                   "request_key",
                                   "keyctl",
                                   "reboot",
                                   "swapon"};

/// 0 or a negative errno.
int add(const Filter& filter, std::uint32_t action, std::span<const char* const> names) {
  for (const char* name : names) {
    const int number = ::seccomp_syscall_resolve_name(name);
    if (number < 0) continue;  // unknown here, or not of this architecture
    const int added = ::seccomp_rule_add(filter.get(), action, number, 0);
    if (added != 0) return added;
  }
  return 0;
}

/// An argument of a call, counted from 0, that has this value.
scmp_arg_cmp equals(unsigned argument, scmp_datum_t value) {
  return {argument, SCMP_CMP_EQ, value, 0};
}

/// No memory becomes code: what an attacker writes cannot run.
int add_memory_rules(const Filter& filter) {
  const scmp_arg_cmp without_execution{2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0};
  for (const int number : {SCMP_SYS(mmap), SCMP_SYS(mprotect)}) {
    const int added =
        ::seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, number, 1, without_execution);
    if (added != 0) return added;
  }
  return 0;
}

/// abort(3) signals its own thread, and no other process.
int add_own_signals(const Filter& filter, pid_t self) {
  return ::seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                            equals(0, static_cast<scmp_datum_t>(self)));
}

/// Limits are read, and stay as they are.
int add_limits(const Filter& filter) {
  return ::seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1, equals(2, 0));
}

/// Connections to UNIX sockets alone: there are no others to connect by.
int add_unix_connections(const Filter& filter) {
  const int added =
      ::seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(socket), 1, equals(0, AF_UNIX));
  return added == 0 ? ::seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(connect), 0)
                    : added;
}

int build(const Filter& filter, const SandboxNeeds& needs, pid_t self) {
  int status = add(filter, SCMP_ACT_ALLOW, kAllowed);
  // libc then takes the older call, as on a kernel without it.
  if (status == 0 && !kSanitized)
    status = ::seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  if (status == 0 && needs.has_devices) status = add(filter, SCMP_ACT_ALLOW, kForDevices);
  if (status == 0 && needs.joins_others) status = add_unix_connections(filter);
  if (kSanitized) return status == 0 ? add(filter, SCMP_ACT_ALLOW, kForSanitizers) : status;
  if (status == 0) status = add(filter, SCMP_ACT_KILL_PROCESS, kDeadly);
  if (status == 0 && !needs.has_devices) status = add_memory_rules(filter);
  if (status == 0) status = add_own_signals(filter, self);
  if (status == 0) status = add_limits(filter);
  return status;
}

}  // namespace

std::optional<std::string> filter_system_calls(const SandboxNeeds& needs) {
  const Filter filter(::seccomp_init(SCMP_ACT_ERRNO(EPERM)), &::seccomp_release);
  if (!filter) return "libseccomp has no memory";
  constexpr std::uint32_t kBinaryTree = 2;  // a short search for each call
  ::seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_OPTIMIZE, kBinaryTree);
  int status = ::seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, 1);
  if (status == 0) status = build(filter, needs, ::getpid());
  if (status == 0) status = ::seccomp_load(filter.get());
  if (status != 0) return std::strerror(-status);
  return {};
}

}  // namespace steertag::serve
