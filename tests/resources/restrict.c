/* Preloaded: takes something away from a program before it begins. RESTRICT is a word:
 *   dump   other processes may not look into it (nor into its files), as in hardened containers
 *   memfd  there are no anonymous files: memfd_create fails with EPERM */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Root looks into everything by this privilege. */
static int without_ptrace(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2];

    if (syscall(SYS_capget, &header, sets) != 0)
        return -1;
    sets[0].effective &= ~(1u << CAP_SYS_PTRACE);
    sets[0].permitted &= ~(1u << CAP_SYS_PTRACE);
    sets[0].inheritable &= ~(1u << CAP_SYS_PTRACE);
    return (int)syscall(SYS_capset, &header, sets);
}

static int without_memfd(void)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof steps / sizeof *steps, .filter = steps};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

__attribute__((constructor)) static void restrict_it(void)
{
    const char *const word = getenv("RESTRICT");
    int failed = 0;

    if (!word)
        return;
    if (strcmp(word, "dump") == 0)
        failed = without_ptrace() || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    else if (strcmp(word, "memfd") == 0)
        failed = without_memfd();
    if (failed) {
        fprintf(stderr, "restrict: %s: %s\n", word, strerror(errno));
        _exit(77);
    }
}
