#!/usr/bin/env python3
"""Each ferry_ and FERRY_ name in a document exists, and each file that it links to.

usage: names.py INCLUDE-DIR SETTINGS CC FLAG... -- DOCUMENT...

Names are those of the public headers after the preprocessor, their macros, and the FERRY_ words in the file SETTINGS.
"""
import os
import re
import subprocess
import sys

NAME = re.compile(r"\b(?:ferry|FERRY)_\w+(?!\w|\*|-)")
LINK = re.compile(r"\]\(([^):#]+)(?:#[^)]*)?\)")
HEADERS = ("ferry/ferry.h", "ferry/convert.h", "ferry/experimental.h")


def known_names(include, settings, compiler):
    text = "".join(f"#include <{header}>\n" for header in HEADERS)
    names = set()
    for how in ("-E", "-dM"):
        done = subprocess.run([*compiler, "-I" + include, "-E", how, "-x", "c", "-"], input=text, text=True, check=True,
                              capture_output=True)
        names.update(re.findall(r"\b(?:ferry|FERRY)_\w+", done.stdout))
    with open(settings, encoding="utf-8") as f:
        names.update(re.findall(r'"(FERRY_\w+)"', f.read()))
    return names


def wrong(document, known):
    """What is wrong in a document, as texts."""
    with open(document, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            for name in NAME.findall(line):
                if name not in known:
                    yield f"{document}:{number}: no such name: {name}"
            for link in LINK.findall(line):
                if not os.path.exists(os.path.join(os.path.dirname(document), link)):
                    yield f"{document}:{number}: no such file: {link}"


def main(arguments):
    cut = arguments.index("--")
    include, settings, *compiler = arguments[:cut]
    known = known_names(include, settings, compiler)
    bad = [text for document in arguments[cut + 1 :] for text in wrong(document, known)]
    print("\n".join(bad + [f"{len(known)} names known, {len(bad)} failures"]))
    return 1 if bad or not known else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
