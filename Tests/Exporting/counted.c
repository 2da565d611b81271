// Lets valgrind count a program of Swift's: preloaded, it gives `sigsuspend` a set that can be written. Valgrind 3.19
// takes those signals from the set, in place, that nothing can block, and dies of libdispatch's, which is constant.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int sigsuspend(const sigset_t *set) {
  sigset_t copy = *set;
  return (int)syscall(SYS_rt_sigsuspend, &copy, _NSIG / 8);
}
