"""Compare selections with the stored ones: ``python -m hardening.golden [--rewrite]``."""

import argparse
import json
import sys
import time

from hardening.golden import selections
from hardening.golden.sets import present
from hardening.record import keep


def main() -> int:
    """Compare, or keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rewrite", action="store_true", help="keep what is selected now")
    parser.add_argument("--print", action="store_true", help="print the record as JSON, and end")
    parser.add_argument("--keep", action="store_true", help="add a row to the record of trials")
    parser.add_argument("--sets", nargs="*", help="only these sets; by default all that are here")
    options = parser.parse_args()
    start = time.perf_counter()
    now = selections.compute(options.sets or present())
    if options.print:
        print(json.dumps(now))
        return 0
    before = selections.stored() if selections.FILE.exists() else {}
    changes = list(selections.differences(before, now))
    print("\n".join(changes))
    count = sum(map(len, now.values()))
    print(f"{count} selections of {len(now)} sets, {len(changes)} changed")
    if options.rewrite:
        selections.write(now)
    elif options.keep:
        what = f"{len(now)} sets, bit for bit"
        keep("golden", what, count, len(changes), time.perf_counter() - start)
    return int(bool(changes) and not options.rewrite)


if __name__ == "__main__":
    sys.exit(main())
