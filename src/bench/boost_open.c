/* Finds the module of the rival `boost`. It lies beside the library, where the program's own search
 * path leads. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "bench/boost.h"
#include "ferry/version.h"

#define MODULE "libferry-bench-boost-" FERRY_MPI_NAME ".so"

/* Where Boost.MPI was not found there is no module; one that is there and cannot be opened tells
 * what it lacks. */
static const char *why_not(void)
{
    static char text[200];
    const char *const cause = dlerror();

    if (!cause || strncmp(cause, MODULE ":", strlen(MODULE ":")) == 0)
        return strcmp(ferry_version_mpi(), "mpich") == 0
                   ? "no Boost.MPI for MPICH was found when ferry was built"
                   : "no Boost.MPI was found when ferry was built";
    snprintf(text, sizeof text, "%s", cause);
    return text;
}

const boost_calls *boost_open(const char **missing_out)
{
    static const boost_calls *calls;
    static const char *missing;
    void *const module = calls || missing ? NULL : dlopen(MODULE, RTLD_NOW | RTLD_LOCAL);
    boost_entry *entry = NULL;

    if (module) {
        void *const symbol = dlsym(module, BOOST_SYMBOL);
        memcpy(&entry, &symbol, sizeof entry); /* C has no other way from data to code */
        calls = entry ? entry() : NULL;
    }
    if (!calls && !missing)
        missing = why_not();
    *missing_out = missing;
    return calls;
}
