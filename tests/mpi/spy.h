/* A look at the messages that the library sends: it calls MPI by its PMPI names, which this program defines too. */
#ifndef TESTS_MPI_SPY_H
#define TESTS_MPI_SPY_H

typedef struct spy_report {
    long messages;   /* sent and asked for */
    int highest_tag; /* among them */
} spy_report;

void spy_begin(void);
spy_report spy_end(void);

#endif
