"""Text from outside, made harmless for terminals and pages: what acts on a terminal is written as an escape.

Labels, names of files and columns, and answers of services may hold sequences that clear a screen, rename a window,
hide a line or reverse the order of letters.
"""

import re

# Control characters, separators of lines, directions that override the order of letters, and halves of characters.
ACTIVE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def harmless(text: str) -> str:
    """Return the text with escapes in place of control characters; lines and tabs stay."""
    return ACTIVE.sub(lambda match: match.group() if match.group() in "\n\t" else _escape(match.group()), text)


def one_line(text: str) -> str:
    """Return a name as one line: escapes stand in place of control characters, ends of lines included."""
    return ACTIVE.sub(lambda match: _escape(match.group()), text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
