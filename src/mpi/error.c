/* MPI's error codes and versions in our terms. */
#include "mpi/pmpi.h"

#include <string.h>

#include "base/trouble.h"
#include "ferry/version.h"

#ifndef FERRY_MPI_NAME
#  error "FERRY_MPI_NAME names the MPI of the build"
#endif

/* How the library version text of each MPI begins. */
static const struct {
    const char *name, *text;
} libraries[] = {{"mpich", "MPICH"}, {"openmpi", "Open MPI"}};

const char *ferry_version_mpi(void)
{
    return FERRY_MPI_NAME;
}

ferry_status pmpi_status(int code, const char *call)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "unknown error";
    int length = 0;

    if (code == MPI_SUCCESS)
        return FERRY_OK;
    if (PMPI_Error_string(code, text, &length) == MPI_SUCCESS)
        text[length] = '\0';
    for (char *c = text; *c; c++)
        if (*c == '\n')
            *c = ' ';
    return trouble(FERRY_ERR_MPI, "%s failed: %s", call, text);
}

static ferry_status check_library(void)
{
    char text[8192] = ""; /* the larger of the two MPIs' limits */
    int length = 0;

    PMPI_Get_library_version(text, &length);
    text[sizeof text - 1] = '\0';
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strcmp(libraries[i].name, FERRY_MPI_NAME) == 0 &&
            strncmp(text, libraries[i].text, strlen(libraries[i].text)) == 0)
            return FERRY_OK;
    text[strcspn(text, "\n,")] = '\0';
    return trouble(FERRY_ERR_MPI,
                   "libferry-%s was loaded into a program that runs under \"%.60s\": link the "
                   "ferry library of that MPI",
                   FERRY_MPI_NAME, text);
}

bool pmpi_finalized(void)
{
    int flag = 0;

    PMPI_Finalized(&flag);
    return flag;
}

ferry_status pmpi_running(void)
{
    const ferry_status st = check_library(); /* first: another MPI's handles mean nothing here */
    int flag = 0;

    if (st != FERRY_OK)
        return st;
    PMPI_Initialized(&flag);
    if (!flag)
        return trouble(FERRY_ERR_STATE, "MPI is not initialized: call MPI_Init first");
    if (pmpi_finalized())
        return trouble(FERRY_ERR_STATE, "MPI is already finalized");
    return FERRY_OK;
}
