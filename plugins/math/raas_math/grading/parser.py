"""Parser: tokens to an expression, by recursive descent with a bound on depth. Nothing is evaluated here."""

from __future__ import annotations

import re
from fractions import Fraction

from raas_math.grading.doubt import Doubt
from raas_math.grading.expression import Apply, Expression, Number, Symbol
from raas_math.grading.literal import repeating, whole_or_decimal
from raas_math.grading.tokens import FUNCTIONS, Token, tokenize

__all__ = ["parse"]

DEEPEST = 40
END = Token("end", "")
CLOSERS = {"(": ")", "[": "]", "{": "}", "\\{": "\\}", "|": "|", "\\|": "\\|"}
FLOORS = {"lfloor": ("rfloor", "floor"), "lceil": ("rceil", "ceil")}
OPAQUE = frozenset({"f", "g", "h", "F", "G", "H", "O", "P", "Theta", "Omega"})
GROUPED = re.compile(r"\d{1,3}")


def parse(text: str) -> Expression:
    """The expression that a spelled formula says; raise `Doubt` when it is unknown, ambiguous or too deep."""
    reader = Parser(tokenize(text))
    node = reader.sum()
    if reader.peek is not END:
        raise Doubt("unreadable")
    return node


class Parser:
    """Reads one token list from left to right; each method reads one kind of phrase and returns its tree."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0
        self.bars = 0

    @property
    def peek(self) -> Token:
        """The next token, not yet taken."""
        return self.tokens[self.at] if self.at < len(self.tokens) else END

    def ahead(self, steps: int) -> Token:
        """The token `steps` after the next one."""
        return self.tokens[self.at + steps] if self.at + steps < len(self.tokens) else END

    def take(self) -> Token:
        """Take the next token."""
        token = self.peek
        self.at += 1
        return token

    def accept(self, *texts: str) -> Token | None:
        """Take the next token if it is one of these signs or commands."""
        token = self.peek
        return self.take() if token.kind in ("sign", "command") and token.text in texts else None

    def expect(self, text: str) -> None:
        """Take this sign or command; raise `Doubt` when something else stands there."""
        if not self.accept(text):
            raise Doubt("unreadable")

    def sum(self) -> Expression:
        """Terms joined by plus and minus."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise Doubt("too_deep")
        terms = [self.signed()]
        while sign := self.accept("+", "-"):
            term = self.signed()
            terms.append(_negative(term) if sign.text == "-" else term)
        self.depth -= 1
        return terms[0] if len(terms) == 1 else Apply("add", tuple(terms))

    def signed(self) -> Expression:
        """A product behind any number of signs."""
        minus = False
        while sign := self.accept("+", "-"):
            minus ^= sign.text == "-"
        node = self.product()
        return _negative(node) if minus else node

    def product(self) -> Expression:
        """Factors joined by signs or by standing side by side, from left to right."""
        node = self.factor(first=True)
        while True:
            if self.accept("*"):
                node = Apply("mul", (node, self.signed_factor()))
            elif self.accept("/"):
                node = Apply("div", (node, self.signed_factor()))
            elif self.starts_factor():
                node = Apply("mul", (node, self.factor(first=False)))
            else:
                return node

    def signed_factor(self) -> Expression:
        """A factor after a product sign, which may carry a minus."""
        minus = False
        while sign := self.accept("+", "-"):
            minus ^= sign.text == "-"
        node = self.factor(first=True)
        return _negative(node) if minus else node

    def starts_factor(self) -> bool:
        """True when what follows multiplies without a sign; two numbers side by side do not."""
        token = self.peek
        if token.kind in ("number", "repeat") and self.tokens[self.at - 1].text != "!":
            raise Doubt("ambiguous")
        if token.kind in ("letter", "number"):
            return True
        if token.kind == "command":
            return token.text not in ("rfloor", "rceil", "pm", "mp", "degree")
        return token.text in ("(", "[", "{", "\\{") or (token.text == "|" and self.bars == 0)

    def factor(self, *, first: bool) -> Expression:
        """A power, with what follows it: factorial, percent, degrees."""
        node = self.mixed() if first and self.peek.kind == "number" else None
        if node is None:
            node = self.primary()
        node = self.suffixes(node)
        if self.accept("^"):
            node = self.suffixes(Apply("pow", (node, self.exponent())))
        if self.peek.text == "^":
            raise Doubt("ambiguous")
        return node

    def suffixes(self, node: Expression) -> Expression:
        """The node behind its factorials, percent and degree signs."""
        while sign := self.accept("!", "%", "degree"):
            if sign.text == "!" and self.peek.text == "!":
                raise Doubt("ambiguous")
            node = Apply({"!": "factorial", "%": "percent", "degree": "degree"}[sign.text], (node,))
        return node

    def exponent(self) -> Expression:
        """What stands raised: a group, or a signed number, letter or function."""
        minus = False
        while sign := self.accept("+", "-"):
            minus ^= sign.text == "-"
        node = self.primary()
        if self.accept("!"):
            node = Apply("factorial", (node,))
        if self.accept("^"):
            node = Apply("pow", (node, self.exponent()))
        return _negative(node) if minus else node

    def mixed(self) -> Expression | None:
        """A whole number and the fraction behind it (3 1/2) as one number, or None if that is not here."""
        if not self.peek.text.isdigit():
            return None
        if self.ahead(1).kind == "number" and self.ahead(2).text == "/" and self.ahead(3).kind == "number":
            whole_part, top, bottom = (whole_or_decimal(self.ahead(step).text) for step in (0, 1, 3))
            self.at += 4
            return self._mixed(whole_part, Apply("div", (top, bottom)))
        if self.ahead(1).text == "frac":
            return self._mixed(whole_or_decimal(self.take().text), self.primary())
        return None

    def _mixed(self, whole_part: Number, fraction: Expression) -> Expression:
        if self.peek.text in ("^", "!", "_"):
            raise Doubt("ambiguous")
        match fraction:
            case Apply("div", (Number() as top, Number() as bottom)):
                if not 0 < top.value < bottom.value or top.decimal or bottom.decimal:
                    raise Doubt("ambiguous")
                return Number(whole_part.value + top.value / bottom.value)
        return Apply("mul", (whole_part, fraction))

    def primary(self) -> Expression:
        """A number, a letter, a group or a command with its arguments."""
        token = self.take()
        if token.kind == "number":
            return self.number(token)
        if token.kind == "repeat":
            return repeating(token.text)
        if token.kind == "letter":
            return self.letter(token.text)
        if token.kind == "command":
            return self.command(token.text)
        if token.text in CLOSERS:
            return self.group(token.text)
        raise Doubt("unreadable")

    def number(self, token: Token) -> Expression:
        """A number; groups of three digits behind blanks belong to it."""
        text = token.text
        if self.peek.text == "_":
            raise Doubt("based_number")
        while GROUPED.fullmatch(token.text) and self._is_thousands():
            text += self.take().text
        return whole_or_decimal(text)

    def _is_thousands(self) -> bool:
        after = self.peek
        return (
            after.kind == "number" and after.spaced and len(after.text.split(".")[0]) == 3 and self.ahead(1).text != "/"
        )

    def letter(self, name: str) -> Expression:
        """A constant, an unknown with its index, or an opaque function of its arguments."""
        if self.accept("_"):
            return Symbol(f"{name}_{self.index()}")
        if self.peek.text == "'":
            raise Doubt("unreadable")
        if name in OPAQUE and self.peek.text == "(":
            return Apply(f"call:{name}", self.arguments())
        return Apply(name) if name in ("e", "i") else Symbol(name)

    def index(self) -> str:
        """The text of a subscript."""
        if not self.accept("{"):
            return self.take().text
        parts = []
        while self.peek is not END and self.peek.text != "}":
            parts.append(self.take().text)
        self.expect("}")
        return ",".join(parts) if parts else ""

    def arguments(self) -> tuple[Expression, ...]:
        """Expressions in parentheses, joined by commas."""
        self.expect("(")
        found = [self.sum()]
        while self.accept(","):
            found.append(self.sum())
        self.expect(")")
        return tuple(found)

    def group(self, opener: str) -> Expression:
        """What stands between an opener and its closer; bars are the absolute value."""
        self.bars, outer = (self.bars + 1, self.bars) if opener == "|" else (0, self.bars)
        node = self.sum()
        self.bars = outer
        self.expect(CLOSERS[opener])
        if opener == "\\|":
            raise Doubt("unreadable")
        return Apply("abs", (node,)) if opener == "|" else node

    def command(self, name: str) -> Expression:
        """A command with its arguments."""
        if name in FUNCTIONS and name != "sqrt":
            return self.function(FUNCTIONS[name])
        if name in ("pi", "infty"):
            return Apply("pi" if name == "pi" else "inf")
        if name in FLOORS:
            closer, op = FLOORS[name]
            node = self.sum()
            self.expect(closer)
            return Apply(op, (node,))
        if name == "sqrt":
            return self.root()
        if name in ("frac", "binom"):
            return self.pair("div" if name == "frac" else "binom")
        raise Doubt("unreadable")

    def root(self) -> Expression:
        """A square root, or another one with its index in brackets."""
        index: Expression = Number(Fraction(2))
        if self.accept("["):
            index = self.sum()
            self.expect("]")
        return Apply("root", (self.group_or_digit(), index))

    def pair(self, op: str) -> Expression:
        """Two arguments, each a group or one digit, as in \\frac12."""
        digits = self.peek
        if digits.kind == "number" and digits.text.isdigit() and len(digits.text) == 2:
            self.take()
            self._no_digit_follows()
            return Apply(op, tuple(Number(Fraction(int(digit))) for digit in digits.text))
        top = self.group_or_digit()
        return Apply(op, (top, self.group_or_digit()))

    def group_or_digit(self) -> Expression:
        """An argument: a group in braces or parentheses, one digit, one letter or a command."""
        token = self.peek
        if token.kind == "number" and (len(token.text) > 1 or not token.text.isdigit()):
            raise Doubt("ambiguous")
        return self.primary()

    def _no_digit_follows(self) -> None:
        if self.peek.kind in ("number", "repeat"):
            raise Doubt("ambiguous")

    def function(self, name: str) -> Expression:
        """A named function: its power, its base, then its argument with or without parentheses."""
        base = self.primary() if name == "log" and self.accept("_") else None
        power = self.exponent() if self.accept("^") else None
        node = _named(name, base, self.argument())
        if power is None:
            return node
        if power == Number(Fraction(-1)) or power == Apply("neg", (Number(Fraction(1)),)):
            if name not in ("sin", "cos", "tan"):
                raise Doubt("ambiguous")
            return Apply(f"arc{name}", node.args)
        return Apply("pow", (node, power))

    def argument(self) -> Expression:
        """The argument of a function: a group, or the factors that stand side by side behind it."""
        opener = self.peek.text
        if opener in ("(", "{", "["):
            node = self.primary()
            if opener == "{" and self.peek.text == "^":
                raise Doubt("ambiguous")
            return node
        node = self.signed_factor()
        while self.starts_factor() and self._is_plain():
            node = Apply("mul", (node, self.factor(first=False)))
        return node

    def _is_plain(self) -> bool:
        return self.peek.kind == "letter" or self.peek.text in ("pi", "frac", "sqrt")


def _negative(node: Expression) -> Expression:
    return Apply("neg", (node,))


def _named(name: str, base: Expression | None, argument: Expression) -> Apply:
    if name == "log" and base is not None:
        return Apply("log", (argument, base))
    if name == "lg":
        return Apply("log", (argument, Number(Fraction(10))))
    if name == "cbrt":
        return Apply("root", (argument, Number(Fraction(3))))
    return Apply(name, (argument,))
