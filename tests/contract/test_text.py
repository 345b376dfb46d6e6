"""Text in the repository speaks of the project alone: no machine's paths, no registry's hosts."""

import re
import subprocess

# Written in pieces, so that this file does not hold what it looks for.
PATHS = re.compile("|".join(rf"(?<![\w.]){each}/" for each in ("/ro" + "ot", "/wo" + "rk", "/Us" + "ers")))
HOSTS = re.compile("|".join(("py" + r"pi\.org", "python" + r"hosted\.org", r"deb\.deb" + "ian", "npm" + r"js\.")))
PICTURES = (".gguf", ".png", ".parquet", ".zst")


def test_no_file_names_a_place_of_one_machine(root, refuse):
    refuse(_lines_with(PATHS, root))


def test_no_file_names_a_registry(root, refuse):
    refuse(_lines_with(HOSTS, root))


def _lines_with(pattern, root):
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        path = root / name
        if path.suffix in PICTURES or not path.is_file():
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
            found = pattern.search(line)
            if found:
                yield f"{name}:{number}: {found[0]}"
