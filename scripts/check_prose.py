"""Check the wording of all texts for readers against scripts/prose_baseline.json.

    python scripts/check_prose.py [--update | --list FILE]

The check counts phrases that readers stumble over in messages, docstrings, command-line helps,
Markdown, strings of the page and commit titles. A file may contain at most as many as the baseline
lists. A file that improves needs no update; --update lowers the baseline to the counts of today.
--list prints all phrases of a file. The exit status is 1 if a file has more than its baseline.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
BASELINE = ROOT / "scripts" / "prose_baseline.json"
COMMITS = "commit titles"
LONGEST_SENTENCE, LONGEST_TITLE = 30, 72

# Pattern and suggestion; "^" is the start of a sentence.
PHRASES = [
    (r"\bwhat (?:is|was|are|were|has|have|had|it|they|each|others?|falls|follows|belongs"
     r"|an? \w+ (?:is|was|has|had|does|did|holds|shows|explains|makes|gives|takes))\b"
     r"(?! wrong\b| needed\b| missing\b)", "name the thing instead of a clause with 'what'"),
    (r"\b(?:stands?|stood|standing)\b(?!-|s? (?:for|out)\b)", "is, appears, is listed, is stored"),
    (r"\bbeside\b", "next to, compared with, in addition to"),
    (r"\b(?:tells?|told|telling)\b", "reports, lists; distinguish"),
    (r"\b(?:says?|said|saying)\b", "reports, states, prints"),
    (r"\b(?:foresee\w*|foresaw|foretell\w*|foretold)\b", "predict"),
    (r"\b(?:anew|afresh)\b", "again"),
    (r"\balike\b", "similar, the same way"),
    (r"\b(?:lest|whence|whereof|thereof|wherein|hitherto|albeit)\b", "so that ... not"),
    (r"\b(?:by|cast|drawn?) lots?\b(?! of)|\bdealt\b", "at random, permuted"),
    (r"\b(?:goes|go|gone|going|went) (?:on with|without|by(?! default))\b", "resume, omit, follow"),
    (r"(?<!let )(?<!sense )(?<!stand )(?<!leave )\balone\b", "only, by itself"),
    (r"^of (?!course\b)", "do not start a sentence with 'Of'"),
    (r"(?<![\w.\])}/*<>:-])\.\d+\b(?![.\w])", "0.337, not .337"),
    (r"^where (?!is\b|are\b|do\b|does\b|to\b|can\b)", "If, When"),
    (r"(?<!there )\b(?:is|are|was|were|be) no\b(?! (?:more|less|one|[^mb ]+er)\b)", "is not a"),
    (r"\b(?:is|are|was|were|has|have|had|with|finds|gives|lists) none\b(?! of\b)", "there are no"),
    (r"\bso many\b(?! that\b)|\bas many as make\b", "state the number or its name"),
    (r"\b(?:lives?|lived|living) in\b(?! the (?:world|country))|\bhomes of\b", "has weight in"),
    (r"\b(?:hollows?|strangers?|newcomers?)\b", "local minimum; unrelated object; new object"),
    (r"\brooms\b|\bat the door\b", "subpackages, input validation"),
    (r"\b(?:nats?|bits?|bytes?|[kmg]i?b|ms|seconds?|minutes?|draws|responses|trials|answers|judges)"
     r" an? (?:cue|word|object|row|map|fit|step|iteration|pair|response|thread|participant|trial"
     r"|run|fold|point|cell|judge|sense|core|file|page|sweep|group|time)\b", "per"),
    (r"\bsome (?:\d|ten|dozens?|hundreds?|thousands?|millions?)\b", "about"),
    (r"(?<!you )(?<!who )(?<!nobody )\b(?:knows|knew|wants|wanted|hears|heard|minds|pretends?)\b",
     "software has no mind: stores, requires, accepts"),
    (r"\b(?:nobody|whoever|who answered|people who answered)\b", "participants, no participant"),
    (r"(?:,|;) for (?:it|they|there|these|those|this|that|he|she|each|none|no \w+|the \w+)"
     r" (?:is|are|was|were|has|have|had|do|does|did|can|could|would|will|must)\b", "because"),
    (r"\bbut for\b|\bsave for\b|\w aside[,.;:)]|\w aside$", "except"),
    (r"\bmend(?:s|ed|ing)?\b", "fix"),
    (r"\b(?:hold|holds|held|holding)\b(?![ -](?:out|back|true|for|if|when|fixed)\b)",
     "contain, store, apply"),
    (r"(?<!decimal )(?<!take )(?<!takes )(?<!in )(?<!take the )(?<!right )\bplaces?\b(?! of\b)",
     "position, coordinates, index"),
    (r"\b(?:earned|earns|stranded)\b", "explained share, unsupported"),
    (r"\bpartners?\b", "associate, neighbour"),
    (r"\b(?:recalls|recalled)\b", "association probability, evokes"),
    (r"\b(?:of|has) two kinds\b|\btwo kinds of objects?\b", "rows and columns; bipartite"),
    (r"\b(?:asks?|asked|asking) (?:for|of)\b", "request, require"),
    (r"\brefus(?:e|es|ed|ing|al|als)\b", "reject, raise an error"),
    (r"\b(?:behavior|favors?|gray|judgments?|labeled|modeled|modeling)\b", "British spelling"),
]  # fmt: skip
RULES = [(re.compile(pattern, re.IGNORECASE), advice) for pattern, advice in PHRASES]
PERIOD, CAPITAL = "message ends with a period", "message starts with a capital"
SEMICOLONS, LONG, TITLE = "two semicolons in a paragraph", "long sentence", "commit title"

SENTENCE = re.compile(
    r"(?<=[.!?:])[\"')\]]*\s+(?=[\"'(]*[A-Z`])|:\s*\n|\n\s*\n|\n\s*(?:[-*]|\d+\.)\s+"
)
WORD = re.compile(r"[A-Za-z][\w'’-]*|\d[\d.,]*")
MESSAGES = re.compile(r"(?:Error|^warn|Warning|^BadData|^RunFailed|^BadParameter)$")
GENERATED = ("docs/results/", "docs/reference/api/", "docs/reference/commands/")
HELPS = {"option", "flag", "output_option", "argument", "Option", "Argument"}
ROLE = re.compile(r"\{[\w:-]+\}`[^`]*`|:[\w:]+:`[^`]*`")


class Passage(NamedTuple):
    file: str
    line: int
    kind: str
    text: str


class Hit(NamedTuple):
    file: str
    line: int
    advice: str
    phrase: str


def plain(text: str) -> str:
    """Remove code, links and formulas from a text, with the same number of lines."""

    def blank(match: re.Match[str]) -> str:
        return "CODE" + "\n" * match[0].count("\n")

    text = re.sub(r"``.+?``", blank, ROLE.sub(blank, text), flags=re.DOTALL)
    text = re.sub(r"`[^`]+`|\$\$?[^$]+\$\$?|<https?:[^>]+>|https?://\S+", blank, text)
    return re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)


def paragraphs(file: str, first: int, kind: str, text: str) -> Iterator[Passage]:
    """Yield the paragraphs of a text that starts at a line."""
    line = first
    for part in re.split(r"(\n\s*\n)", text):
        if part.strip():
            yield Passage(file, line, kind, part)
        line += part.count("\n")


def blanked(pattern: str, text: str) -> str:
    """Remove matches of a pattern from a text, with the same line breaks."""
    return re.sub(
        pattern, lambda match: "\n" * match[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL
    )


def prose_of_docstring(text: str) -> str:
    """Remove examples, references, headings, types of parameters and literal blocks."""
    text = blanked(r"^ *(?:References|See Also)\n *-{3,}\n.*?(?=^ *\w[\w ]*\n *-{3,}$|\Z)", text)
    text = blanked(r"^ *>>>.*?(?=\n\s*\n|\Z)", text)
    text = blanked(r"^ *\\b\n.*?(?=\n\s*\n|\Z)", text)  # examples of commands
    text = blanked(r"^(?=( +)?)[^\n]*::\n\s*\n(?:\1 {2,}[^\n]*\n?|\s*\n)+", text)
    text = re.sub(r"^ *\w[\w ]*\n *-{3,} *$", "\n", text, flags=re.MULTILINE)
    text = blanked(r"^( *)(?! )[\w., ]+\n(?=\1 {4}\S)|^[^\n]*\S {2,}\S[^\n]*$", text)
    return re.sub(r"^ *\*{0,2}\w[\w, *]* : [^\n]*$|^ *[A-Z]\w+(?:Error|Warning)$", "", text,
                  flags=re.MULTILINE)  # fmt: skip


def strings(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the strings of an expression; an inserted value becomes a word."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    elif isinstance(node, ast.JoinedStr):
        parts = [str(one.value) if isinstance(one, ast.Constant) else "CODE" for one in node.values]
        yield node.lineno, "".join(parts)
    elif isinstance(node, (ast.IfExp, ast.BinOp, ast.BoolOp, ast.Tuple, ast.List)):
        for child in ast.iter_child_nodes(node):
            yield from strings(child)


def called(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def of_python(file: str, text: str) -> Iterator[Passage]:
    in_commands = "/cli/" in file
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            kind = "messages" if MESSAGES.search(called(node)) else ""
            kind = "helps" if in_commands and called(node) in HELPS else kind
            values = [*node.args, *(one.value for one in node.keywords if one.arg == "help")]
            for line, string in strings(ast.Tuple(values)) if kind else ():
                if " " in string:
                    yield Passage(file, line, kind, string)
        elif isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            string = ast.get_docstring(node, clean=False)
            if string is None:
                continue
            name = getattr(node, "name", "")
            kind = "docstrings" if name and name[0] != "_" else "internal docstrings"
            decorators = [one for one in getattr(node, "decorator_list", ())
                          if isinstance(one, ast.Call) and called(one) == "command"]  # fmt: skip
            kind = "helps" if in_commands and decorators else kind
            yield from paragraphs(file, node.body[0].lineno, kind, prose_of_docstring(string))


def of_markdown(file: str, text: str) -> Iterator[Passage]:
    text = blanked(r"\A---\n.*?\n---$", text)
    text = blanked(r"^ *(`{3,}|~{3,}|:{3,})\{(?!note|tip|warning|important|admonition)[^\n]*\n"
                   r".*?^ *\1 *$|^ *```(?!\{)[^\n]*\n.*?^ *``` *$", text)  # fmt: skip
    text = blanked(r"^ *(?:`{3,}|:{3,})[^\n]*$|^\([\w-]+\)=$|^<!--.*?-->|^% [^\n]*$", text)
    text = blanked(r"^ {4,}[^\n]*$|^\|[ :|-]+\|$|^:[\w-]+:[^\n]*$", text)
    text = re.sub(r"^\|.*$", lambda row: row[0].replace(" | ", " . | "), text, flags=re.MULTILINE)
    yield from paragraphs(file, 1, "Markdown", re.sub(r"^#+ (.*)$", r"\1.\n", text))


def of_page(file: str, text: str) -> Iterator[Passage]:
    text = blanked(r"/\*.*?\*/|(?<![:\"'])//[^\n]*$|^import [^;]*;|^export [^;]* from [^;]*;", text)
    text = re.sub(r"\b(?:class|d|viewBox|id|style|data-\w+|type|role)=(?:\"[^\"]*\"|\{`[^`]*`\})",
                  "", text)  # fmt: skip
    quoted = r"\"((?:[^\"\\\n]|\\.)*)\"|`((?:[^`\\]|\\.)*)`|(?<=[\w\"}/]>)([^<>{}=;]+)(?=[<{])"
    for match in re.finditer(quoted, text):
        string = re.sub(r"\$\{[^}]*\}", "CODE", match[1] or match[2] or match[3] or "")
        if re.search(r"[a-z]{2,} [a-zA-Z]", string) and not re.search(r"[#;{}]|\dpx|--", string):
            yield Passage(file, text.count("\n", 0, match.start()) + 1, "page", string)


def of_commits() -> Iterator[Passage]:
    """Yield titles since the last tag, or all; none without git."""

    def git(*words: str) -> str:
        run = subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=False, encoding="utf-8"
        )
        return run.stdout.strip() if run.returncode == 0 else ""

    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        return
    tag = git("describe", "--tags", "--abbrev=0")
    titles = git("log", "--no-merges", "--format=%s", *([f"{tag}..HEAD"] if tag else []))
    for number, title in enumerate(titles.splitlines(), 1):
        yield Passage(COMMITS, number, COMMITS, title)


def passages() -> Iterator[Passage]:
    readers = [("src/manymaps", "**/*.py", of_python), ("docs", "**/*.md", of_markdown),
               (".", "*.md", of_markdown), ("viewer/src", "**/*.ts*", of_page)]  # fmt: skip
    for folder, pattern, reader in readers:
        for path in sorted((ROOT / folder).glob(pattern)):
            file = path.relative_to(ROOT).as_posix()
            if not file.startswith(GENERATED):
                yield from reader(file, path.read_text(encoding="utf-8"))
    yield from of_commits()


def sentences(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for match in SENTENCE.finditer(text):
        yield start, text[start : match.start()]
        start = match.end()
    yield start, text[start:]


def hits(passage: Passage) -> Iterator[Hit]:
    file, first, kind, raw = passage
    if kind == COMMITS:
        if len(raw) > LONGEST_TITLE or re.match(r"[a-z]|\w+(?:ed|ing) |(?:The|An?) |.*\.$", raw):
            yield Hit(file, first, TITLE, raw)
        return
    text = plain(raw)
    for start, sentence in sentences(text):
        line = first + text.count("\n", 0, start + len(sentence) - len(sentence.lstrip()))
        flat = re.sub(r"\s+", " ", sentence.strip(" \n*_>#\"'(-"))
        for pattern, advice in RULES if not flat.endswith("?") else ():
            for match in pattern.finditer(flat):
                if not match[0].endswith("None"):
                    yield Hit(file, line, advice, match[0])
        count = len(WORD.findall(sentence.split(" . | ")[0]))
        if count > LONGEST_SENTENCE and kind != "messages":
            yield Hit(file, line, LONG, f"{count} words: {flat[:40]}...")
    if text.count(";") > 1 and not re.search(r"\||^ *(?:[-*]|\d+\.) ", text, re.MULTILINE):
        yield Hit(file, first, SEMICOLONS, re.sub(r"\s+", " ", text.strip())[:50])
    if kind == "messages" and re.search(r"\w\.$", text):
        yield Hit(file, first, PERIOD, text[-30:])
    if kind == "messages" and re.match(r"(?:The|An?|Not?|In|It|This|[A-Z][a-z]+ing) ", text):
        yield Hit(file, first, CAPITAL, text[:30])


def show(found: list[Hit]) -> None:
    for hit in sorted(found):
        print(f"{hit.file}:{hit.line}: {hit.phrase!r}: {hit.advice}")


def main(arguments: list[str]) -> int:
    found: defaultdict[str, list[Hit]] = defaultdict(list)
    words: Counter[str] = Counter()
    phrases: Counter[str] = Counter()
    for passage in passages():
        words[passage.kind] += len(WORD.findall(plain(passage.text)))
        these = list(hits(passage))
        phrases[passage.kind] += len(these)
        found[passage.file] += these
    if arguments[:1] == ["--list"]:
        for file in arguments[1:]:
            show(found[file])
        return 0
    limits: dict[str, int] = json.loads(BASELINE.read_text("utf-8")) if BASELINE.exists() else {}
    found.pop(COMMITS, None)  # history cannot be corrected, so titles are only listed
    worse = {file: these for file, these in found.items() if len(these) > limits.get(file, 0)}
    if arguments == ["--update"]:
        # A renamed file brings its phrases along: new names may take what others gave up.
        counts = {file: len(these) for file, these in sorted(found.items()) if these}
        falls = sum(counts.values()) <= sum(limits.values()) and not worse.keys() & limits.keys()
        if falls or not limits:
            BASELINE.write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")
            return 0
    for file, these in sorted(worse.items()):
        show(these)
        print(f"{file}: {len(these)} phrases; the baseline is {limits.get(file, 0)}")
    for kind, count in sorted(words.items()):
        rate = 1000 * phrases[kind] / count
        print(f"{kind:20} {phrases[kind]:5} phrases, {rate:5.1f} per 1,000 words")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
