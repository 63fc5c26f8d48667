/* Where the tuning record of this machine is kept: a file in the user's cache folder. */
#ifndef TUNE_FILE_H
#define TUNE_FILE_H

#include "ferry/status.h"
#include "tune/record.h"

enum { TUNE_PATH_BYTES = 1024, TUNE_MACHINE_BYTES = 160 };

/* The machine as the record names it: its CPU and the MPI of this library. */
void tune_machine(char text_out[TUNE_MACHINE_BYTES]);

/* The file's name: $XDG_CACHE_HOME/ferry or ~/.cache/ferry, and a name made of the machine's.
 * ERR_SYSTEM when there is no such folder to be named. */
ferry_status tune_path(char path_out[TUNE_PATH_BYTES]);

typedef enum tune_found {
    TUNE_READ,   /* `record_out` is filled */
    TUNE_ABSENT, /* there is no file */
    TUNE_REFUSED /* there is one that is of no use: `why` says so */
} tune_found;
tune_found tune_load(tune_record *record_out, char *why, size_t why_bytes);

/* Replace the file at once, so that readers see the old or the new one. Makes the folder.
 * ERR_SYSTEM when that cannot be done; the old file is then as it was. */
ferry_status tune_save(const tune_record *record);

#endif
