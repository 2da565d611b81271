// Runs a program and lets one of its system calls end as a fault would have it.
//
//   inject FAULT N DESTINATION COUNTFILE PROGRAM ARGUMENT…
//
// DESTINATION is a folder, whose calls are those that write to its files or change its names, or `:PORT` of a
// database on loopback, whose calls are those that connect and send to it. FAULT is one of
//
//   kill      counts every call of every thread that can change anything outside the process, in the order in
//             which they are made, and kills the process by SIGKILL when it makes the Nth, before that is
//             performed; between two such calls nothing changes that a later run could see
//   killhere  the same, and counts the destination's calls alone
//
// or lets the Nth of the destination's calls fail:
//
//   ENOSPC EDQUOT EROFS EIO ECONNRESET   by that error; after the first three each later call that needs room fails
//             as well, and with the last the connection is gone
//   short     writes half
//   cut       the connection is lost before it
//   deaf      the connection is lost behind it: it is performed, but its answer does not come
//
// COUNTFILE gets the number of counted calls, and of calls of the destination that were performed. The exit status
// is the program's, or 137. N = 0 only counts. For Linux on x86-64, by seccomp and ptrace.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

// Calls that change nothing outside the process, or nothing that outlives it (locks). Each other one is counted.
static const int harmless[] = {
  SYS_read, SYS_readv, SYS_pread64, SYS_preadv, SYS_close, SYS_stat, SYS_fstat, SYS_lstat, SYS_newfstatat,
  SYS_statx, SYS_statfs, SYS_fstatfs, SYS_access, SYS_faccessat, SYS_faccessat2, SYS_lseek, SYS_getdents64,
  SYS_readlink, SYS_readlinkat, SYS_getcwd, SYS_poll, SYS_ppoll, SYS_select, SYS_pselect6, SYS_epoll_create1,
  SYS_epoll_ctl, SYS_epoll_wait, SYS_epoll_pwait, SYS_eventfd2, SYS_timerfd_create, SYS_timerfd_settime,
  SYS_pipe, SYS_pipe2, SYS_dup, SYS_dup2, SYS_dup3, SYS_mmap, SYS_mprotect, SYS_munmap, SYS_mremap,
  SYS_madvise, SYS_brk, SYS_membarrier, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn,
  SYS_rt_sigtimedwait, SYS_sigaltstack, SYS_signalfd4, SYS_nanosleep, SYS_clock_nanosleep,
  SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_time, SYS_times, SYS_getpid, SYS_gettid,
  SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getrandom, SYS_getrusage, SYS_sysinfo,
  SYS_uname, SYS_getrlimit, SYS_prlimit64, SYS_sched_yield, SYS_sched_getaffinity, SYS_sched_getparam,
  SYS_sched_getscheduler, SYS_sched_get_priority_max, SYS_sched_get_priority_min, SYS_sched_setscheduler,
  SYS_futex, SYS_set_robust_list, SYS_set_tid_address, SYS_rseq, SYS_arch_prctl, SYS_prctl, SYS_clone,
  SYS_clone3, SYS_execve, SYS_exit, SYS_wait4, SYS_fcntl, SYS_socket, SYS_bind, SYS_getsockname, SYS_getpeername,
  SYS_getsockopt, SYS_setsockopt, SYS_recvfrom, SYS_recvmsg, SYS_restart_syscall, SYS_fadvise64,
};

struct call {
  long number;
  unsigned long long a, b, c;
};

// The path behind a descriptor of a process.
static void path_of(pid_t process, int descriptor, char *path, size_t size) {
  char link[64];
  snprintf(link, sizeof link, "/proc/%d/fd/%d", process, descriptor);
  ssize_t length = readlink(link, path, size - 1);
  path[length < 0 ? 0 : length] = 0;
}

static int creates(unsigned long long flags) {
  return (flags & (O_CREAT | O_TRUNC)) != 0 || (flags & O_ACCMODE) != O_RDONLY;
}

// A text in the memory of a process.
static void text_at(pid_t process, unsigned long long address, char *text, size_t size) {
  for (size_t i = 0; i + sizeof(long) <= size; i += sizeof(long)) {
    long word = ptrace(PTRACE_PEEKDATA, process, address + i, 0);
    memcpy(text + i, &word, sizeof word);
    if (memchr(&word, 0, sizeof word)) return;
  }
  text[size - 1] = 0;
}

// Whether a call writes to a descriptor.
static int writes(long number) {
  return number == SYS_write || number == SYS_writev || number == SYS_pwrite64 || number == SYS_pwritev;
}

// Where the sockets lead, by descriptor: a port of this machine or another; 0 is another thread of the process.
static int leads[1024];

// Whether a call connects or sends to the port.
static int reaches(const struct call *call, int port) {
  // libpq writes by nothing else.
  int is_sent = call->number == SYS_connect || call->number == SYS_sendto;
  return is_sent && call->a < sizeof leads / sizeof *leads && leads[call->a] == port;
}

static void connects(pid_t process, const struct call *call) {
  struct sockaddr_in address;
  long word = ptrace(PTRACE_PEEKDATA, process, call->b, 0);
  memcpy(&address, &word, sizeof word);
  int is_net = address.sin_family == AF_INET || address.sin_family == AF_INET6;
  if (call->a < sizeof leads / sizeof *leads) leads[call->a] = is_net ? ntohs(address.sin_port) : -1;
}

// Whether a call can change anything: outside the process, or in the folder alone.
static int changes(pid_t process, const struct call *call, const char *folder) {
  char path[4096];
  switch (call->number) {
    case SYS_write: case SYS_writev: case SYS_pwrite64: case SYS_pwritev: case SYS_ftruncate:
    case SYS_fallocate: case SYS_fsync: case SYS_fdatasync:
      path_of(process, (int)call->a, path, sizeof path);
      if (!strncmp(path, "anon_inode:", 11)) return 0;  // wakes a thread of its own
      return !folder || !strncmp(path, folder, strlen(folder));
    case SYS_open:
      text_at(process, call->a, path, sizeof path);
      return creates(call->b) && (!folder || !strncmp(path, folder, strlen(folder)));
    case SYS_openat:
      text_at(process, call->b, path, sizeof path);
      return creates(call->c) && (!folder || !strncmp(path, folder, strlen(folder)));
    case SYS_rename: case SYS_unlink: case SYS_link: case SYS_mkdir:
      text_at(process, call->a, path, sizeof path);
      return !folder || !strncmp(path, folder, strlen(folder));
    case SYS_renameat: case SYS_renameat2: case SYS_linkat: case SYS_mkdirat:
      text_at(process, call->b, path, sizeof path);
      return !folder || !strncmp(path, folder, strlen(folder));
    case SYS_sendto:
      return !folder && !reaches(call, 0);
    default:
      return !folder;
  }
}

// What a full disk, or one that cannot be written, refuses; the others let go of what is there.
static int refused(long number) {
  return number != SYS_unlink && number != SYS_ftruncate && number != SYS_fsync && number != SYS_fdatasync;
}

static int error_of(const char *fault) {
  static const struct { const char *name; int number; } all[] = {
    {"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EDQUOT", EDQUOT}, {"EROFS", EROFS},
    {"ECONNRESET", ECONNRESET},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (!strcmp(fault, all[i].name)) return all[i].number;
  return 0;
}

// Ends a connection of another process, in one direction or both.
static void disconnect(pid_t process, int descriptor, int how) {
  int handle = syscall(SYS_pidfd_open, process, 0), copy = syscall(SYS_pidfd_getfd, handle, descriptor, 0);
  shutdown(copy, how);
  close(copy);
  close(handle);
}

static void start(char **command) {
  enum { count = sizeof harmless / sizeof *harmless };
  struct sock_filter filter[count + 3] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
  };
  for (int i = 0; i < count; i++)
    filter[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, harmless[i], count - i, 0);
  filter[count + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
  filter[count + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {.len = count + 3, .filter = filter};
  ptrace(PTRACE_TRACEME, 0, 0, 0);
  raise(SIGSTOP);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) _exit(126);
  execvp(command[0], command);
  _exit(127);
}

int main(int count, char **words) {
  if (count < 6) return 2;
  const char *fault = words[1], *folder = words[3];
  long when = atol(words[2]), seen = 0, performed = 0;
  int port = *folder == ':' ? atoi(folder + 1) : 0, error = error_of(fault), shortens = !strcmp(fault, "short");
  int kills = !strcmp(fault, "kill"), kills_here = !strcmp(fault, "killhere");
  int cuts = !strcmp(fault, "cut"), deafens = !strcmp(fault, "deaf");
  int lasts = error == ENOSPC || error == EDQUOT || error == EROFS;
  if (!kills && !kills_here && !shortens && !cuts && !deafens && !error) return 2;
  pid_t child = fork();
  if (!child) start(words + 5);
  int status;
  waitpid(child, &status, 0);
  ptrace(PTRACE_SETOPTIONS, child, 0,
    PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
    PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
  ptrace(PTRACE_CONT, child, 0, 0);
  int ended = 0;
  for (pid_t thread; (thread = waitpid(-1, &status, __WALL)) > 0;) {
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      if (thread == child) ended = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      continue;
    }
    int signal = WSTOPSIG(status), event = status >> 16;
    if (event == PTRACE_EVENT_SECCOMP) {
      struct user_regs_struct registers;
      if (ptrace(PTRACE_GETREGS, thread, 0, &registers)) continue;
      struct call call = {registers.orig_rax, registers.rdi, registers.rsi, registers.rdx};
      if (call.number == SYS_connect) connects(thread, &call);
      int is_here = port ? reaches(&call, port) : changes(thread, &call, folder);
      if (is_here || (kills && changes(thread, &call, NULL))) {
        seen++;
        if ((kills || kills_here) && seen == when) {
          kill(child, SIGKILL);
          continue;
        }
        int is_due = when && (seen == when || (seen > when && lasts && refused(call.number)));
        int is_sent = call.number == SYS_sendto || writes(call.number);
        if (is_due && port && !shortens) disconnect(child, (int)call.a, deafens ? SHUT_RD : SHUT_RDWR);
        if (is_due && shortens && is_sent && registers.rdx > 1) {
          // Of vectors the first half of them, of bytes the first half.
          registers.rdx /= 2;
          ptrace(PTRACE_SETREGS, thread, 0, &registers);
        } else if (is_due && error && (!lasts || refused(call.number))) {
          registers.orig_rax = -1;
          registers.rax = -error;
          ptrace(PTRACE_SETREGS, thread, 0, &registers);
        }
        performed += is_here;
      }
      signal = 0;
    } else if (event || signal == SIGSTOP || signal == SIGTRAP) {
      signal = 0;  // a new thread, or one that begins
    }
    ptrace(PTRACE_CONT, thread, 0, signal);
  }
  FILE *file = fopen(words[4], "w");
  if (!file || fprintf(file, "%ld %ld\n", seen, performed) < 0 || fclose(file)) return 2;
  return ended;
}
