"""Spelling: one plain ASCII LaTeX form for the many ways to write the same thing. Nothing is parsed here."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["identity", "spell", "worded"]

VULGAR = {
    char: f"\\frac{{{up}}}{{{down}}}"
    for char, up, down in (
        ("½", 1, 2), ("⅓", 1, 3), ("⅔", 2, 3), ("¼", 1, 4), ("¾", 3, 4), ("⅕", 1, 5), ("⅖", 2, 5),
        ("⅗", 3, 5), ("⅘", 4, 5), ("⅙", 1, 6), ("⅚", 5, 6), ("⅐", 1, 7), ("⅛", 1, 8), ("⅜", 3, 8),
        ("⅝", 5, 8), ("⅞", 7, 8), ("⅑", 1, 9), ("⅒", 1, 10),
    )
}  # fmt: skip
GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "θ": "theta", "λ": "lambda",
    "μ": "mu", "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi", "ω": "omega", "ξ": "xi",
    "η": "eta", "κ": "kappa", "ν": "nu", "χ": "chi", "ψ": "psi", "Γ": "Gamma", "Δ": "Delta",
    "Θ": "Theta", "Λ": "Lambda", "Σ": "Sigma", "Φ": "Phi", "Ω": "Omega", "Π": "Pi",
}  # fmt: skip
SIGNS = {
    "−": "-", "–": "-", "—": "-", "﹣": "-", "×": "\\times ", "·": "\\cdot ", "⋅": "\\cdot ", "∙": "\\cdot ",
    "÷": "\\div ", "⁄": "/", "∕": "/", "∞": "\\infty ", "√": "\\sqrt ", "≤": "\\leq ", "≥": "\\geq ",
    "⩽": "\\leq ", "⩾": "\\geq ", "≠": "\\neq ", "≈": "\\approx ", "∪": "\\cup ", "∩": "\\cap ",
    "∈": "\\in ", "±": "\\pm ", "∓": "\\mp ", "°": "\\degree ", "º": "\\degree ", "∅": "\\emptyset ",
    "ℝ": "\\mathbb{R}", "℃": "\\degree C", "…": "\\ldots ", "′": "'", "’": "'", "⟨": "\\langle ",
    "⟩": "\\rangle ", "∖": "\\setminus ", "€": "\\EUR ", "£": "\\GBP ", "¥": "\\JPY ", "％": "%",
}  # fmt: skip
TABLE = str.maketrans(SIGNS | VULGAR | {char: f"\\{name} " for char, name in GREEK.items()})
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n")
LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
UPRIGHT = r"text|textbf|textit|textrm|textnormal|textsf|texttt|mathrm|mbox|hbox|operatorname\*?|emph|rm"
FONT = r"mathbf|mathit|mathsf|mathcal|mathnormal|boldsymbol|bm|pmb|underline|boxed|fbox|ensuremath"
FUNCTION_WORDS = "sin cos tan cot sec csc arcsin arccos arctan arccot arcsec arccsc sinh cosh tanh coth ln log lg exp"
FUNCTION_NAMES = frozenset(FUNCTION_WORDS.split())

REWRITES = tuple(
    (re.compile(pattern), to)
    for pattern, to in (
        (r"\\\\", r"\\cr "),
        (r"(?<=\d)\s*(?:\{,\}|,\s*\\!)\s*(?=\d{3}(?!\d))", ""),
        (r"(?<=\d)\\[,;: ]\s*(?=\d{3}(?!\d))", ""),
        (r"(?<=\d)\{,\}(?=\d)", "."),
        (r"\\\$|\\text(?:dollar|\s*\{\s*\\?\$\s*\})", r"\\USD "),
        (r"(?<!\\)\\[()\[\]]|\$", ""),
        (r"\\(?:left|right|middle)\s*\.", ""),
        (r"\\(?:left|right|middle|[bB]igg?[lrm]?|displaystyle|textstyle|scriptstyle|limits|nolimits|mleft|mright)"
         r"(?![A-Za-z])", ""),
        (r"\\!", ""),
        (r"\\[,;:> ]|~|\\(?:quad|qquad|enspace|thinspace|space|newline)(?![A-Za-z])|\\[hv]space\*?\{[^{}]*\}"
         r"|\\(?:h|v)?phantom\{[^{}]*\}", " "),
        (r"\\[dtc]frac(?![A-Za-z])", r"\\frac"),
        (r"\\[dt]binom(?![A-Za-z])", r"\\binom"),
        (r"\\(?:le|leqslant|leqq)(?![A-Za-z])|<=|=<", r"\\leq "),
        (r"\\(?:ge|geqslant|geqq)(?![A-Za-z])|>=", r"\\geq "),
        (r"\\ne(?![A-Za-z])|\\not\s*=|!=", r"\\neq "),
        (r"\\lt(?![A-Za-z])", "<"),
        (r"\\gt(?![A-Za-z])", ">"),
        (r"\\(?:lbrace)(?![A-Za-z])", r"\\{"),
        (r"\\(?:rbrace)(?![A-Za-z])", r"\\}"),
        (r"\\lbrack(?![A-Za-z])", "["),
        (r"\\rbrack(?![A-Za-z])", "]"),
        (r"\\(?:[lr]vert|vert|mid)(?![A-Za-z])", "|"),
        (r"\\(?:cdot|times|ast)(?![A-Za-z])", "*"),
        (r"\\div(?![A-Za-z])", "/"),
        (r"\\(?:approxeq|simeq|thickapprox)(?![A-Za-z])", r"\\approx "),
        (r"\\(?:varnothing)(?![A-Za-z])|\\\{\s*\\\}", r"\\emptyset "),
        (r"\\(?:bigcup)(?![A-Za-z])", r"\\cup "),
        (r"\\(?:mathbb|Bbb)\s*\{?\s*R\s*\}?", r"\\reals "),
        (r"\\(?:varepsilon)(?![A-Za-z])", r"\\epsilon "),
        (r"\\(?:varphi)(?![A-Za-z])", r"\\phi "),
        (r"\+\s*/\s*-|(?:^|(?<=[=,(]))\s*\+-(?=\s*[\d\\])", r"\\pm "),
        (r"\^\s*(?:\{\s*\\(?:circ|degree)\s*\}|\\(?:circ|degree)(?![A-Za-z]))", r"\\degree "),
        (r"\\deg(?![A-Za-z])", r"\\degree "),
        (r"\\%", "%"),
        (r"\\_", "_"),
        (r"\\&", " and "),
        (r"\*\*(?=\s*[\d({+\-A-Za-z\\])(?<=[\w)}]\*\*)", "^"),
    )
)  # fmt: skip
TEXT_GROUP = re.compile(r"\\text\{([^{}]*)\}")
CONNECTIVE = re.compile(r",?\s*(?:and|or)\s*,?")
UPRIGHT_GROUP = re.compile(rf"\\(?:{UPRIGHT})\s*\{{([^{{}}]*)\}}")
FONT_GROUP = re.compile(rf"\\(?:{FONT})\s*(?:\{{([^{{}}]*)\}}|\s+([A-Za-z0-9])(?![A-Za-z]))")
LONGEST = 20_000


def spell(text: str) -> str:
    """The answer in plain ASCII LaTeX, without decoration, dollars, spacing commands and fonts.

    What remains upright is `\\text{word}`; degrees are `\\degree`, money is `\\USD`, products are `*`.
    Text longer than 20,000 characters comes back as it is.
    """
    if len(text) > LONGEST:
        return text.strip()
    text = _unwrap_upright(_unwrap_fonts(_ascii(_markdown(text))))
    for pattern, to in REWRITES:
        text = pattern.sub(to, text)
    return _trim(_unwrap_fonts(text))


def identity(spelled: str) -> str:
    """The spelled text without blanks that mean nothing; a blank between two letters or digits means something."""
    return re.sub(r"(?<![A-Za-z0-9]) | (?![A-Za-z0-9])", "", re.sub(r"\s+", " ", spelled))


def worded(spelled: str) -> str:
    """The text in lower case without \\text and loose commas if it has a word of three letters in it, else empty."""
    plain = re.sub(r",(?=\s)|\s+", " ", TEXT_GROUP.sub(r" \1 ", spelled))
    words = re.findall(r"[A-Za-z]{3,}", plain)
    if "\\" in plain or not set(words) - FUNCTION_NAMES:
        return ""
    return " ".join(plain.casefold().split())


def _markdown(text: str) -> str:
    text = text.strip()
    for mark in ("**", "__", "`"):
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
            text = text[len(mark) : -len(mark)].strip()
    return text


def _ascii(text: str) -> str:
    if text.isascii():
        return text
    text = re.sub(r"√\s*(\d+|[a-z])", r"\\sqrt{\1}", text)
    text = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ]+", lambda m: "^{" + m.group().translate(RAISED) + "}", text)
    text = re.sub("[₀₁₂₃₄₅₆₇₈₉]+", lambda m: "_{" + m.group().translate(LOWERED) + "}", text)
    return "".join(map(_plain_char, text.translate(TABLE)))


def _plain_char(char: str) -> str:
    if char.isascii():
        return char
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    if char.isspace() or unicodedata.category(char) == "Cf":
        return " " if char.isspace() else ""
    folded = unicodedata.normalize("NFKC", char)
    return folded if folded.isascii() and len(folded) == 1 else char


def _unwrap_upright(text: str) -> str:
    for _ in range(4):
        text, count = UPRIGHT_GROUP.subn(_upright, text)
        if not count:
            break
    return text.replace("\\@", "\\")


def _upright(match: re.Match[str]) -> str:
    inner = re.sub(r"\\[ ,;:!]|~|\$", " ", match.group(1)).strip()
    if not inner:
        return " "
    if CONNECTIVE.fullmatch(inner):
        return f" {inner} "
    if inner in FUNCTION_NAMES:
        return f"\\{inner} "
    if re.search(r"\d|\\", inner) or (len(inner) == 1 and not inner.isalpha()):
        return f" {inner} "
    if len(inner) == 1 and _is_symbol(match):
        return f"{{{inner}}}"
    return f"\\@text{{{inner}}}"


def _is_symbol(match: re.Match[str]) -> bool:
    """A lone upright letter after a number is a unit (5 m); elsewhere it is the letter (e, A)."""
    before = match.string[: match.start()].rstrip(" \\,;~")
    spaced = match.group(1)[:1].isspace() or before != match.string[: match.start()]
    return not (before[-1:].isdigit() and (spaced or match.group(1).strip() not in "ei"))


def _unwrap_fonts(text: str) -> str:
    for _ in range(6):
        text, count = FONT_GROUP.subn(lambda m: f" {m.group(1) or m.group(2) or ''} ", text)
        if not count:
            break
    return text


def _trim(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    while text and text[-1] in ".,;:" and not text.endswith("\\ldots"):
        text = text[:-1].rstrip()
    while len(text) > 2 and text[0] == "{" and text[-1] == "}" and _closes_last(text) and "," not in text:
        text = text[1:-1].strip()
    return text


def _closes_last(text: str) -> bool:
    depth = 0
    for match in re.finditer(r"\\.|[{}]", text):
        depth += {"{": 1, "}": -1}.get(match.group(), 0)
        if depth == 0 and match.group() == "}":
            return match.end() == len(text)
    return False
