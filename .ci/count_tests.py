"""Add up pytest's reports; fail if nothing ran, or if a test was skipped: here the machine has all that tests need."""

import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree


def main(paths: list[str]) -> int:
    """Print every skipped test with its reason, then one line of counts."""
    if not paths:
        print("no report of any test run; did pytest start at all?")
        return 1
    cases = [case for path in paths for case in ElementTree.parse(Path(path)).iter("testcase")]
    failed = sum(1 for case in cases if case.find("failure") is not None or case.find("error") is not None)
    skipped = list(_skipped(cases))
    for line in skipped:
        print(f"skipped: {line}")
    passed = len(cases) - failed - len(skipped)
    print(f"total: {passed} passed, {failed} failed, {len(skipped)} skipped")
    return 1 if failed or skipped or not passed else 0


def _skipped(cases: list[ElementTree.Element]) -> Iterator[str]:
    for case in cases:
        mark = case.find("skipped")
        if mark is not None:
            yield f"{case.get('classname')}.{case.get('name')}: {mark.get('message')}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
