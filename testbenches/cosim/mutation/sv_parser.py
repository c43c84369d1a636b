# SPDX-License-Identifier: Apache-2.0
"""Finds the places of a SystemVerilog file where mutants can stand: expressions, conditions and assignments.

It reads the subset that rtl/ is written in (docs/cosim.md): modules and packages with assign, always_ff, always_comb,
functions, generate blocks and instances. Elaboration (parameters, declarations, ranges, genvar loops, generate conditions)
is left out: a Verilated model is elaborated once. Anything else is an error with file and line.
"""

import re
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?\*/)"
    r"|(?P<literal>\d+\s*'[bdhBDH][0-9a-fA-F_]+|'[01])"
    r"|(?P<number>\d[\d_]*)"
    r"|(?P<name>[`$]?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)"
    r'|(?P<string>"[^"\n]*")'
    r"|(?P<op><=|>=|==|!=|&&|\|\||<<|>>|\+:|-:|\|=|&=|\+=|-=|\+\+|[-+*/%&|^~!<>?:=()\[\]{},;.#@'])",
    re.S,
)
BINARY = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="], ["<", "<=", ">", ">="], ["<<", ">>"], ["+", "-"],
          ["*", "/", "%"]]
DECLARATIONS = {"typedef", "localparam", "parameter", "logic", "import", "genvar", "int", "bit", "input", "output"}


class ParseError(Exception):
    """What the subset does not have; the text says where."""


@dataclass
class Token:
    kind: str
    text: str
    start: int
    end: int


@dataclass
class Node:
    """A part of the file, [start, end). `kind`: ternary, binary, unary, literal, constant, select, copy, other; or of
    statements: condition, assignment. `const`: fixed at elaboration."""

    kind: str
    start: int
    end: int
    children: list = field(default_factory=list)
    op: str = ""
    const: bool = False
    reset: bool = False  # in the reset branch of a register
    detail: dict = field(default_factory=dict)


class Parser:
    """`roots`: the nodes of the whole file, in order."""

    def __init__(self, text, name):
        self.text, self.name = text, name
        self.tokens = self._tokens()
        self.at = 0
        self.loop_variables = set()
        self.reset = False
        self.roots = []
        while self.peek():
            self.item()

    def _tokens(self):
        tokens, at = [], 0
        while at < len(self.text):
            match = TOKEN.match(self.text, at)
            if not match:
                raise ParseError(f"{self.name}:{self.line(at)}: cannot read {self.text[at:at + 20]!r}")
            if match.lastgroup != "space":
                tokens.append(Token(match.lastgroup, match.group(), match.start(), match.end()))
            at = match.end()
        return tokens

    def line(self, at):
        return self.text.count("\n", 0, at) + 1

    # ---- Tokens ----
    def peek(self, ahead=0):
        index = self.at + ahead
        return self.tokens[index].text if index < len(self.tokens) else ""

    def take(self, expected=None):
        if self.at == len(self.tokens):
            raise ParseError(f"{self.name}: ends too early")
        token = self.tokens[self.at]
        if expected and token.text != expected:
            raise ParseError(f"{self.name}:{self.line(token.start)}: {expected!r} expected, not {token.text!r}")
        self.at += 1
        return token

    def skip_balanced(self):
        """From an opening bracket to behind its partner."""
        depth = 0
        while True:
            text = self.take().text
            depth += (text in "([{") - (text in ")]}")
            if depth == 0:
                return

    def skip_to(self, end):
        while self.peek() != end:
            if self.peek() in ("(", "[", "{"):
                self.skip_balanced()
            else:
                self.take()
        self.take()

    def label(self):
        if self.peek() == ":":
            self.take()
            self.take()

    # ---- Items of modules, packages and generate blocks ----
    def item(self):
        text = self.peek()
        if text in ("module", "package"):
            self.skip_to(";")
        elif text in ("endmodule", "endpackage", "generate", "endgenerate", "end", "endfunction"):
            self.take()
            self.label()
        elif text == "begin":
            self.take()
            self.label()
        elif text == "else":
            self.take()
        elif text == "`include":
            self.take()
            self.take()
        elif text.startswith("`"):
            self.macro()
        elif text == "assign":
            self.take()
            self.assignment("continuous")
        elif text in ("always_ff", "always_comb"):
            self.take()
            if self.peek() == "@":
                self.take()
                self.skip_balanced()
            self.statement("ff" if text == "always_ff" else "comb", True)
        elif text == "function":
            elaborated = self.peek(2) == "int"  # numbers for parameters, not values
            self.skip_to(";")
            while self.peek() != "endfunction":
                if elaborated:
                    self.take()
                else:
                    self.statement("function", True)
        elif text == "for":
            self.take()
            self.loop_header()
        elif text == "if":
            self.take()
            self.skip_balanced()
        elif text in DECLARATIONS or text.startswith("$"):
            self.skip_to(";")
        elif self.tokens[self.at].kind == "name":
            if self.peek(1) == "#" or self.peek(2) == "(":
                self.instance()
            else:
                self.skip_to(";")
        else:
            raise ParseError(f"{self.name}:{self.line(self.tokens[self.at].start)}: unexpected {text!r}")

    def macro(self):
        self.take()
        if self.peek() == "(":
            self.skip_balanced()

    def loop_header(self):
        begin = self.at
        self.skip_balanced()
        names = [token.text for token in self.tokens[begin:self.at]]
        self.loop_variables.add(names[names.index("=") - 1])

    def instance(self):
        self.take()
        if self.peek() == "#":
            self.take()
            self.skip_balanced()
        self.take()
        self.take("(")
        while self.peek() != ")":
            self.take(".")
            port = self.take().text
            if self.peek() == "(":
                if port.endswith("_i"):  # an input: an expression
                    self.take()
                    self.roots.append(self.expression())
                    self.take(")")
                else:
                    self.skip_balanced()
            if self.peek() == ",":
                self.take()
        self.take(")")
        self.take(";")

    # ---- Statements. `always`: it is executed whenever its process is. ----
    def statement(self, process, always):
        text = self.peek()
        if text == "begin":
            self.take()
            self.label()
            while self.peek() != "end":
                self.statement(process, always)
            self.take()
        elif text == "if":
            self.conditional(process)
        elif text in ("case", "unique"):
            self.skip_to("case") if text == "unique" else self.take()
            self.take("(")
            self.roots.append(self.expression())
            self.take(")")
            while self.peek() != "endcase":
                self.skip_to(":")
                self.statement(process, False)
            self.take()
        elif text == "for":
            self.take()
            self.loop_header()
            self.statement(process, always)
        elif text.startswith("`"):
            self.macro()
        elif text in DECLARATIONS:
            self.skip_to(";")
        elif text == ";":
            self.take()
        else:
            self.assignment(process, always)

    def conditional(self, process):
        self.take("if")
        self.take("(")
        condition = self.expression()
        self.take(")")
        outer_reset = self.reset
        is_reset = self.text[condition.start:condition.end] == "!rst_ni"
        self.reset = self.reset or is_reset
        single = self.peek() not in ("begin", "if", "for", "case", "unique")
        node = Node("condition", condition.start, condition.end, [condition], reset=is_reset)
        self.roots.append(node)
        self.statement(process, False)
        self.reset = outer_reset
        node.detail["single"] = single and self.peek() != "else"  # without it: the deleted statement
        if self.peek() == "else":
            self.take()
            self.statement(process, False)

    def assignment(self, process, always=True):
        start = self.tokens[self.at].start
        self.postfix() if self.peek() != "{" else self.skip_balanced()
        operator = self.take().text
        if operator not in ("=", "<=", "|=", "&=", "+=", "-="):
            raise ParseError(f"{self.name}:{self.line(start)}: no assignment: {operator!r}")
        value = self.expression()
        end = self.take(";").end
        self.roots.append(Node("assignment", start, end, [value], op=operator, reset=self.reset,
                               detail={"process": process, "always": always}))

    # ---- Expressions ----
    def expression(self):
        node = self.binary(0)
        if self.peek() != "?":
            return node
        self.take()
        yes = self.expression()
        self.take(":")
        no = self.expression()
        return self.made("ternary", node.start, [node, yes, no])

    def made(self, kind, start, children, **more):
        const = all(child.const for child in children)
        return Node(kind, start, self.tokens[self.at - 1].end, children, const=const, reset=self.reset, **more)

    def binary(self, level):
        if level == len(BINARY):
            return self.unary()
        node = self.binary(level + 1)
        while self.peek() in BINARY[level]:
            operator = self.take().text
            right = self.binary(level + 1)
            node = self.made("binary", node.start, [node, right], op=operator)
        return node

    def unary(self):
        if self.peek() in ("!", "~", "&", "|", "^", "-", "+"):
            token = self.take()
            operand = self.unary()
            return self.made("unary", token.start, [operand], op=token.text)
        return self.postfix()

    def postfix(self):
        token = self.take()
        start = token.start
        if token.text == "(":
            inner = self.expression()
            self.take(")")
            node = self.made("other", start, [inner])
        elif token.text == "{":
            node = self.concatenation(start)
        elif token.kind in ("literal", "number"):
            node = Node("literal", start, token.end, const=True, reset=self.reset)
        elif token.kind == "name":
            node = self.name_or_call(token)
        else:
            raise ParseError(f"{self.name}:{self.line(start)}: no expression: {token.text!r}")
        while self.peek() in ("[", ".", "'"):
            if self.peek() == "[":
                node = self.select(node)
            elif self.peek() == ".":
                self.take()
                self.take()
                node = Node("other", start, self.tokens[self.at - 1].end)
            else:
                self.take()
                self.take("(")
                inner = self.expression()
                self.take(")")
                node = self.made("other", start, [inner])
        return node

    def name_or_call(self, token):
        name = token.text.split("::")[-1]
        if self.peek() == "(":
            self.take()
            arguments = []
            while self.peek() != ")":
                arguments.append(self.expression())
                if self.peek() == ",":
                    self.take()
            self.take()
            return self.made("other", token.start, arguments)
        const = name[0].isupper() or name in self.loop_variables
        return Node("constant" if const else "name", token.start, token.end, const=const, reset=self.reset)

    def concatenation(self, start):
        children = [self.expression()]
        if self.peek() == "{":  # a replication: its count is fixed
            self.take()
            children = [self.concatenation(start)]
        while self.peek() == ",":
            self.take()
            children.append(self.expression())
        self.take("}")
        return self.made("other", start, children)

    def select(self, base):
        bracket = self.take("[")
        index = self.expression()
        detail = {"bracket": bracket.start}
        children = [base]
        if self.peek() in (":", "+:", "-:"):
            fixed = self.take().text
            low = self.expression()
            if fixed == ":" and index.kind == low.kind == "literal":
                detail["range"] = (int(self.text[index.start:index.end]), int(self.text[low.start:low.end]))
            elif fixed != ":" and not index.const:
                children.append(index)
        elif index.kind == "literal":
            value = int(self.text[index.start:index.end])
            detail["range"] = (value, value)
        elif not index.const:
            children.append(index)
        self.take("]")
        node = self.made("select", base.start, children, detail=detail)
        node.const = base.const and index.const
        return node
