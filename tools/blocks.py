#!/usr/bin/env python3
"""Make a program of the C blocks of a document: it compiles and runs only if they are right.

usage: blocks.py DOCUMENT EXAMPLE OUT

The first block stands in EXAMPLE, line after line. Each of the others becomes a function of its own, which finds a
context (ctx, rank, size), a bundle (b), and a name for a file (file), and is called once on every rank. What else it
needs stands before it in a comment of the document, <!-- given: CODE -->, and what must hold after it behind it,
<!-- then: CODE -->, with sure(CONDITION).
"""
import re
import sys

BEGIN = """\
#include <ferry/ferry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *file;

static void must(ferry_status status)
{
    if (status == FERRY_OK)
        return;
    fprintf(stderr, "%s: %s\\n", ferry_status_text(status), ferry_error_detail());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

#define sure(holds) surely((holds), #holds, __FILE__, __LINE__)
static inline void surely(int holds, const char *what, const char *document, int line)
{
    if (holds)
        return;
    fprintf(stderr, "%s:%d: %s does not hold\\n", document, line, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
"""
BLOCK = """
static void block_%d(ferry_context *ctx, ferry_bundle *b, int rank, int size)
{
    (void)ctx, (void)b, (void)rank, (void)size;
    %s
#line %d "%s"
%s
    %s
}
"""
END = """
int main(int argc, char **argv)
{
    void (*const blocks[])(ferry_context *, ferry_bundle *, int, int) = {%s};
    char name[64];
    ferry_context *ctx;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    must(ferry_context_create(MPI_COMM_WORLD, NULL, &ctx));
    snprintf(name, sizeof name, "blocks.%%d.ferry", rank);
    file = name;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        ferry_bundle *b;
        must(ferry_bundle_new(&b));
        must(ferry_bundle_set_float64(b, "dt", 0.5));
        blocks[i](ctx, b, rank, size);
        ferry_bundle_free(b);
    }
    remove(name);
    ferry_context_free(ctx);
    return MPI_Finalize();
}
"""


COMMENT = r"((?:(?!-->).)*)-->"
C_BLOCK = re.compile(r"(?:<!-- given:" + COMMENT + r"\n+)?^```c\n(.*?)\n```$(?:\n+<!-- then:" + COMMENT + ")?", re.M | re.S)


def c_blocks(text):
    """(line number, content, code before it, code behind it) of each C block."""
    for m in C_BLOCK.finditer(text):
        yield text[: m.start(2)].count("\n") + 1, m.group(2), (m.group(1) or "").strip(), (m.group(3) or "").strip()


def main(document, example, out):
    with open(document, encoding="utf-8") as f:
        first, *rest = c_blocks(f.read())
    with open(example, encoding="utf-8") as f:
        if first[1] + "\n" not in f.read():
            sys.exit(f"{document}:{first[0]}: the first block does not stand in {example}")
    if not rest:
        sys.exit(f"{document}: one block only")
    parts = [BLOCK % (i, given, line, document, content, then) for i, (line, content, given, then) in enumerate(rest)]
    with open(out, "w", encoding="utf-8") as f:
        f.write(BEGIN + "".join(parts) + END % ", ".join(f"block_{i}" for i in range(len(rest))))


if __name__ == "__main__":
    main(*sys.argv[1:4])
