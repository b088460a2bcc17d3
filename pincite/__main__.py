"""The entry point of the command line; `--version` is answered without loading any command."""

import sys


def main() -> int:
    """Run one command and return its exit code."""
    if sys.argv[1:] == ["--version"]:
        from pincite import __version__

        sys.stdout.write(f"pincite {__version__}\n")
        return 0
    from pincite.cli import main as run_command

    return run_command()


if __name__ == "__main__":
    sys.exit(main())
