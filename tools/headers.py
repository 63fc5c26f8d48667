#!/usr/bin/env python3
"""Check that every function of the public headers is documented in full.

usage: headers.py DIR

For each FERRY_API prototype in DIR/*.h the comment that ends on the line before it must hold the six contract words
(Collective, Blocks, Memory, Threads, Cost, Since), one @param for each parameter and for nothing else, and @return or
@retval unless it returns nothing. Prototypes made by a macro need the six words once, in the comment before the macro's
definition or before its first use. Prints one line for each thing missing; the exit status is 1 if there was any.
"""
import re
import sys
from pathlib import Path

CONTRACT = ('Collective', 'Blocks', 'Memory', 'Threads', 'Cost', 'Since')
COMMENT = re.compile(r'/\*.*?\*/', re.S)
PROTOTYPE = re.compile(r'^FERRY_API\s+([^;{]*?)\b(ferry_\w+)\s*\((.*?)\)\s*'
                       r'(?:__attribute__\s*\(\(.*?\)\)\s*)?;', re.S | re.M)
MACRO = re.compile(r'^#\s*define\s+(\w+)\([^)]*\)((?:[^\n]*\\\n)*[^\n]*)', re.M)


def comment_before(text, position):
    """The comment that ends right before a position, or ""."""
    before = text[:position].rstrip(' \t')
    if not before.rstrip('\n').endswith('*/') or before.endswith('\n\n'):
        return ''
    return before[before.rindex('/*'):]


def split_parameters(text):
    """Cut a parameter list at the commas outside of parentheses."""
    parts, depth, part = [], 0, ''
    for char in COMMENT.sub('', text):
        depth += (char == '(') - (char == ')')
        if char == ',' and depth == 0:
            parts.append(part)
            part = ''
        else:
            part += char
    return [' '.join(p.split()) for p in parts + [part]]


def parameter_names(text):
    """Names of the parameters; a variable list of arguments has none."""
    names = []
    for part in split_parameters(text):
        if part in ('void', '', '...'):
            continue
        pointer = re.search(r'\(\s*\*\s*(\w+)', part)
        names.append(pointer[1] if pointer else re.search(r'(\w+)\s*(?:\[[^\]]*\]\s*)*$', part)[1])
    return names


def check_prototype(text, match):
    """Yield what is missing at one prototype."""
    comment = comment_before(text, match.start())
    if not comment.startswith('/**'):
        yield 'no /** comment ends on the line before'
        return
    for word in CONTRACT:
        if not re.search(rf'\b{word} ', comment):
            yield f'contract word {word} is missing'
    wanted = parameter_names(match[3])
    found = re.findall(r'@param\s+(?:\[\w+\]\s*)?(\w+)', comment)
    for name in [n for n in wanted if n not in found]:
        yield f'@param {name} is missing'
    for name in [n for n in found if n not in wanted]:
        yield f'@param {name} has no parameter'
    if match[1].strip() != 'void' and not re.search(r'@ret(urn|val)\b', comment):
        yield '@return or @retval is missing'


def check_macro(text, match):
    """Yield what is missing at a macro that makes prototypes."""
    use = re.search(rf'^(?:\w+\(\s*)?{match[1]}\b', text[match.end():], re.M)
    comments = comment_before(text, match.start())
    if use:
        comments += comment_before(text, match.end() + use.start())
    for word in CONTRACT:
        if not re.search(rf'\b{word} ', comments):
            yield f'contract word {word} is missing'


def check_file(path):
    """Return (number of prototypes and macros, complaints)."""
    text = path.read_text()
    found, complaints = 0, []
    items = [(m, m[2], check_prototype) for m in PROTOTYPE.finditer(text)]
    items += [(m, m[1], check_macro) for m in MACRO.finditer(text) if 'FERRY_API' in m[2]]
    for match, name, check in sorted(items, key=lambda item: item[0].start()):
        found += 1
        line = text.count('\n', 0, match.start()) + 1
        complaints += [f'{path.name}:{line}: {name}: {what}' for what in check(text, match)]
    started = len(re.findall(r'^FERRY_API\b', text, re.M))
    if started != sum(check is check_prototype for _, _, check in items):
        complaints.append(f'{path.name}: {started} lines begin with FERRY_API, but not all of them could be read')
    return found, complaints


def main():
    if len(sys.argv) != 2:
        print('usage: headers.py DIR', file=sys.stderr)
        return 2
    total, complaints = 0, []
    for path in sorted(Path(sys.argv[1]).glob('*.h')):
        found, missing = check_file(path)
        total += found
        complaints += missing
    if total == 0:
        complaints.append(f'{sys.argv[1]}: no prototype was found')
    print('\n'.join(complaints + [f'{total} prototypes, {len(complaints)} complaints']))
    return 1 if complaints else 0


if __name__ == '__main__':
    sys.exit(main())
