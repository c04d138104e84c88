"""`ci/manual`: writes docs/man/ and docs/completion/."""

import sys

from ci.jobs.manual import manual_files


def main():
    try:
        made = manual_files.manual_files()
    except manual_files.CannotMake as error:
        print(f"manual: {error}", file=sys.stderr)
        return 2
    for folder in (manual_files.MAN, manual_files.COMPLETION):
        folder.mkdir(exist_ok=True)
        for path in folder.iterdir():
            if path not in made:
                path.unlink()
    for path, text in made.items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
