"""LIKE, MATCHES and CIDR on texts: what patterns mean, beside `re` and `ipaddress`, and what an index may know."""

from __future__ import annotations

import ipaddress
import re
import sys

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from broker.events.errors import PatternError
from broker.events.regular_expressions import parse_regex
from broker.events.text_automaton import TextAutomaton
from broker.events.text_condition import folded
from broker.events.text_operators import condition_of
from broker.events.wildcards import plain_part

LETTERS = "abAB01_- .\nsSkäÄσΣςİ"
texts = st.text(alphabet=LETTERS, max_size=12)


def by_code_points(text: str) -> str:
    """The definition of folding."""
    return "".join(lower if len(lower := each.lower()) == 1 else each for each in text)


def test_folding_is_by_code_point_for_all_of_them() -> None:
    for first in range(0, sys.maxunicode + 1, 4096):
        text = "".join(map(chr, range(first, first + 4096)))
        assert folded(text) == by_code_points(text)


@given(st.text(max_size=20) | texts)
@example("aΣ")
def test_folding_keeps_the_length(text: str) -> None:
    assert folded(text) == by_code_points(text)
    assert len(folded(text)) == len(text)


# --- LIKE ---

wildcards = st.lists(
    st.sampled_from(["*", "*", "?", "\\*", "\\?", "\\\\", "a", "b", "A", "\n", "ä", "Σ", "ab"]), max_size=8
)


def liked(pattern: str, text: str) -> bool:
    """The meaning of LIKE, by trying."""
    if not pattern:
        return not text
    head, rest = pattern[0], pattern[1:]
    if head == "*":
        return any(liked(rest, text[at:]) for at in range(len(text) + 1))
    if head == "\\":
        head, rest = rest[0], rest[1:]
    elif head == "?":
        return bool(text) and liked(rest, text[1:])
    return text[:1] == head and liked(rest, text[1:])


@settings(max_examples=max(300, 4 * settings().max_examples))
@given(wildcards.map("".join), st.text(alphabet="abA\n*?\\äΣσ", max_size=8), st.booleans())
@example("a*a", "a", False)
@example("*a?b*", "aab", False)
@example("a?*?b", "aab", False)
@example("*?*?*", "x", False)
@example("*?a*", "ab", False)
@example("*a?*", "ba", False)
def test_like_means_what_trying_finds(pattern: str, text: str, fold: bool) -> None:
    expected = liked(by_code_points(pattern), by_code_points(text)) if fold else liked(pattern, text)
    assert condition_of("like~" if fold else "like", pattern).holds(text) is expected
    plain = plain_part(pattern)
    if plain is not None and not fold:
        kind, part = plain
        if kind == "contains":
            assert (part in text) is expected
        else:
            stands = text.startswith(part) if kind == "starts" else text.endswith(part)
            assert (text == part if kind == "equals" else stands) is expected


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("", "", True),
        ("", "a", False),
        ("*", "", True),
        ("*", "a\nb", True),
        ("?", "\n", True),
        ("?", "", False),
        ("a*", "ba", False),
        ("*a", "ab", False),
        ("a*b*c", "a-b-b-c", True),
        ("ab*ba", "aba", False),
        ("*\\\\cmd.exe", "C:\\cmd.exe", True),
        ("100\\*", "100*", True),
        ("100\\*", "1000", False),
    ],
)
def test_wildcards_stand_for_the_whole_text(pattern: str, text: str, expected: bool) -> None:
    assert condition_of("like", pattern).holds(text) is expected


def test_like_takes_linear_time() -> None:
    text = "a" * 200_000
    assert not condition_of("like", "*" + "a?" * 200 + "b*").holds(text)
    assert not condition_of("like", "*a" * 1000 + "*b").holds(text)


# --- MATCHES ---

literals = st.sampled_from(list("abAB01_- sSkä") + ["\\.", "\\n", "\\x41", "\\x{e4}", "\\-"])
classes = st.sampled_from(
    [*("[ab]", "[^a]", "[a-c0]", "[^\\n]", "[\\d_]", "[^\\w]", "[\\W-]", "[]a]", "[^]a]", "[a-]", "[A-B]", "[\\S]")]
    + [".", "\\d", "\\D", "\\w", "\\W", "\\s", "\\S"]
)
assertions = st.sampled_from(["^", "$", "\\b", "\\B", "\\A", "\\z"])
quantifiers = st.sampled_from(["*", "+", "?", "{2}", "{1,}", "{,2}", "{0,3}", "{2,3}", "{0}"])


def extended(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    groups = st.builds("{}{}{}".format, st.sampled_from(["(?:", "("]), inner, st.just(")"))
    repeated = st.builds("{}{}{}".format, groups | literals | classes, quantifiers, st.sampled_from(["", "", "?"]))
    return (
        st.builds("|".join, st.lists(inner, min_size=2, max_size=3))
        | st.builds("".join, st.lists(inner, max_size=3))
        | groups
        | repeated
    )


regexes = st.builds(
    "{}{}".format,
    st.sampled_from(["", "", "", "(?i)", "(?m)", "(?s)", "(?ims)"]),
    st.recursive(literals | classes | assertions, extended, max_leaves=8),
)


def in_python(pattern: str) -> str:
    return pattern.replace("\\z", "\\Z").replace("\\x{e4}", "\\xe4")


def searched(pattern: str, text: str, fold: bool) -> bool:
    # With re.ASCII, Python ignores the case of letters of ASCII only; \d, \w and \b mean what they mean here.
    flags = re.ASCII | (re.IGNORECASE if fold else 0)
    return re.search(in_python(pattern), text, flags) is not None


@settings(max_examples=max(200, 4 * settings().max_examples))
@given(regexes, st.text(alphabet="abAB01_- .\nsSk", max_size=10), st.booleans())
@example("$", "a\n", False)
@example("a$", "a\n", False)
@example("(?m)a$", "a\nb", False)
@example("(?m)^$", "a\n", False)
@example("\\bb", "a b", False)
@example("(?:a|ab)(?:c|bcd)*?$", "abcd", False)
def test_matches_finds_what_python_finds(pattern: str, text: str, fold: bool) -> None:
    assume(text or "\\B" not in pattern)  # Python's \\B is not in the empty text
    expected = searched(pattern, text, fold)
    assert condition_of("matches~" if fold else "matches", pattern).holds(text) is expected


@given(regexes, texts)
def test_matches_is_the_same_with_a_small_cache(pattern: str, text: str) -> None:
    small = TextAutomaton(*parse_regex(pattern, False), places_max=1)
    for each in (text, text + "x\n", text):
        assert small.holds(each) is condition_of("matches", pattern).holds(each)


def test_a_small_cache_is_emptied() -> None:
    small = TextAutomaton(*parse_regex("^[^a][^a]", False), places_max=100)
    for code in range(0x100, 0x900):
        assert not small.holds(chr(code) + "a")
    assert small.kept() <= 200


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("Ä", "ä", True),
        ("[À-Þ]", "ä", True),
        ("[^À-Þ]", "ä", False),
        ("σ", "Σ", True),
        ("(?:straße)", "STRASSE", False),
        ("\\bcmd(?:\\.exe)?\\b", "C:\\CMD.EXE /c", True),
        ("[a-f0-9]{32}", "MD5=D41D8CD98F00B204E9800998ECF8427E", True),
    ],
)
def test_case_is_ignored_beyond_ascii(pattern: str, text: str, expected: bool) -> None:
    assert condition_of("matches~", pattern).holds(text) is expected


def test_matches_takes_linear_time() -> None:
    for pattern in ("(a*)*b", "(a|a)*b", "(?:a?){500}a{500}b", "(.*)(.*)(.*)(.*)[^a]", "^(([a-z])+.)+[A-Z]([a-z])+$"):
        assert not condition_of("matches", pattern).holds("a" * 50_000)


# --- CIDR ---

ADDRESSES = ["10.0.0.0", "10.0.0.1", "10.1.2.3", "11.0.0.0", "0.0.0.0", "255.255.255.255", "192.168.1.77", "::", "::1"]
ADDRESSES += ["2001:db8::", "2001:db8::ff", "2001:db9::", "::ffff:10.0.0.1", "::ffff:0:0", "fe80::1", "fe80::1%eth0"]
NO_ADDRESSES = [
    "",
    "x",
    "10.0.0",
    "10.0.0.0.0",
    "10.0.0.256",
    "010.0.0.1",
    "1.2.3.4 ",
    "10.0.0.1/32",
    "+1.2.3.4",
    "1..2.3",
]
NO_ADDRESSES += ["٣.1.1.1", ":", "2001:db8", "g::1", "1:2:3:4:5:6:7:8:9", "::" + "0" * 100]
NETWORKS = [
    "10.0.0.0/8",
    "0.0.0.0/0",
    "10.0.0.1",
    "10.0.0.0/31",
    "::/0",
    "2001:db8::/32",
    "::ffff:10.0.0.0/104",
    "fe80::/10",
]


def as_compared(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    mapped = getattr(address, "ipv4_mapped", None)
    return address if mapped is None else mapped


@given(st.sampled_from(ADDRESSES) | st.ip_addresses().map(str), st.sampled_from(NETWORKS) | st.ip_addresses().map(str))
@example("::ffff:10.0.0.1", "10.0.0.0/8")
def test_cidr_is_in_the_network(address: str, network: str) -> None:
    net = ipaddress.ip_network(network)
    if isinstance(net, ipaddress.IPv6Network) and net.prefixlen >= 96 and net.network_address.ipv4_mapped is not None:
        net = ipaddress.IPv4Network((int(net.network_address.ipv4_mapped), net.prefixlen - 96))
    compared = as_compared(ipaddress.ip_address(address))
    expected = compared.version == net.version and int(compared) >> (net.max_prefixlen - net.prefixlen) == int(
        net.network_address
    ) >> (net.max_prefixlen - net.prefixlen)
    assert condition_of("cidr", network).holds(address) is expected


@pytest.mark.parametrize("text", NO_ADDRESSES)
def test_what_is_no_address_is_in_no_network(text: str) -> None:
    assert not any(condition_of("cidr", network).holds(text) for network in NETWORKS)


# --- literals for an index, mistakes ---


def has(text: str, kind: str, part: str) -> bool:
    return {"starts": text.startswith, "ends": text.endswith, "contains": text.__contains__, "equals": text.__eq__}[
        kind
    ](part)


_TIED = re.compile(r"(?<!\[)[\^$]|\\[bBAz]")


@st.composite
def fitting(draw: st.DrawFn) -> tuple[str, str, str]:
    """An operator, a pattern, and a text that often fits."""
    if draw(st.booleans()):
        pattern = "".join(draw(wildcards))
        signs = [sign[-1] if sign not in "*?" else draw(texts)[: 1 if sign == "?" else 12] for sign in _signs(pattern)]
        return draw(st.sampled_from(["like", "like~"])), pattern, "".join(signs)
    pattern = draw(regexes)
    tied = _TIED.search(pattern) is not None
    made = texts if tied else st.from_regex(re.compile(in_python(pattern), re.ASCII), alphabet=LETTERS + "1xyz")
    return draw(st.sampled_from(["matches", "matches~"])), pattern, draw(made)


def truly_holds(operator: str, pattern: str, text: str) -> bool:
    """Not by the condition itself, which looks for the literals first."""
    if operator == "like":
        return liked(pattern, text)
    if operator == "like~":
        return liked(by_code_points(pattern), by_code_points(text))
    return searched(pattern, text, operator == "matches~")


def _signs(pattern: str) -> list[str]:
    return re.findall(r"\\.|[^\\]", pattern, re.DOTALL)


@settings(max_examples=max(200, 4 * settings().max_examples))
@given(fitting())
@example(("matches", "(?:ab|[AB]1)k?", "xA1"))
@example(("matches", "a{2}|(?:b0){1,2}", "b0"))
@example(("matches", "ab.+c", "abxc"))
def test_a_text_that_fits_has_a_necessary_literal(case: tuple[str, str, str]) -> None:
    operator, pattern, text = case
    condition = condition_of(operator, pattern)
    fold, alternatives = condition.folded, condition.necessary()
    if alternatives and truly_holds(operator, pattern, text):
        own = folded(text) if fold else text
        assert any(has(own, kind, part) for kind, part in alternatives)
    assert all(part or kind == "equals" for kind, part in alternatives)


@pytest.mark.parametrize(
    ("operator", "pattern", "expected"),
    [
        ("like", "abc", (("equals", "abc"),)),
        ("like", "", (("equals", ""),)),
        ("like~", "*\\\\CMD.exe", (("ends", "\\cmd.exe"),)),
        ("like", "a?bcd*", (("contains", "bcd"),)),
        ("like", "abc*d", (("starts", "abc"),)),
        ("like", "*?*", ()),
        ("matches", "foo.*foobar", (("contains", "foobar"),)),
        ("matches", "(?i)Foo", (("contains", "foo"),)),
        ("matches", "(?:cmd|powershell)\\.exe", (("contains", "cmd.exe"), ("contains", "powershell.exe"))),
        ("matches", " [-/]e ", (("contains", " -e "), ("contains", " /e "))),
        ("matches", "ab?c", (("contains", "abc"), ("contains", "ac"))),
        ("matches", "(?:abc)+\\d", (("contains", "abc"),)),
        ("matches", "a|.", ()),
        ("matches", "\\d+", ()),
        ("cidr", "10.0.0.0/8", ()),
    ],
)
def test_the_longest_literals_are_chosen(operator: str, pattern: str, expected: object) -> None:
    assert condition_of(operator, pattern).necessary() == expected


@pytest.mark.parametrize(
    ("operator", "pattern", "at", "message"),
    [
        ("like", "ab\\c", 2, r"expected \* or \? or \\ in a pattern of LIKE, found '\c'"),
        ("like", "ab\\", 2, "found the end of the pattern"),
        ("matches", "a(b", 1, "expected a closing ) to this group"),
        ("matches", "ab)", 2, "found ')' without '('"),
        ("matches", "a[b", 1, "expected a closing ] to this class"),
        ("matches", "a(?=b)", 1, "look-around and back-references take more than linear time"),
        ("matches", "a(?<!b)", 1, "found '(?<!'"),
        ("matches", "(a)\\1", 3, "back-references take more than linear time"),
        ("matches", "a(?i)", 1, "flags stand at the beginning"),
        ("matches", "(?ix)a", 3, "expected the flags i, m or s, found 'x'"),
        ("matches", "a++", 2, "expected one quantifier, found '+' behind another one"),
        ("matches", "a|*", 2, "expected something to repeat before '*'"),
        ("matches", "^*", 1, "expected something to repeat before '*'"),
        ("matches", "a{3,2}", 1, "expected bounds in ascending order, found '{3,2}'"),
        ("matches", "a{1001}", 1, "expected at most 1000 repetitions, found '{1001}'"),
        ("matches", "b(?:a{30}){40}", 1, "at most 1000 repetitions, nested ones multiplied, found 1200"),
        ("matches", "(?:(?:abcdef){9}d){99}", 0, "at most 5000 characters and classes, repetitions written out"),
        ("matches", "[b-a]", 1, "expected a range from a lower to a higher character, found 'b-a'"),
        ("matches", "[a-\\d]", 1, "expected a range from a lower to a higher character"),
        ("matches", "[[:alpha:]]", 1, "expected no class by name"),
        ("matches", "a\\Z", 1, r"expected an escape of RE2, found '\Z'; write \z"),
        ("matches", "a\\", 1, "found the end of the pattern"),
        ("matches", "(" * 101, 101, "expected at most 100 levels of groups"),
        ("cidr", "10.0.0.1/8", 0, "expected no bits behind the prefix, found '10.0.0.1/8'; write '10.0.0.0/8'"),
        ("cidr", "2001:db8::1/32", 0, "write '2001:db8::/32'"),
        ("cidr", "::ffff:10.0.0.1/104", 0, "write '::ffff:a00:0/104'"),
        ("cidr", "10.0.0.0/33", 9, "expected a prefix of 0 to 32 bits behind the address, found '33'"),
        ("cidr", "10.0.0.0/", 9, "expected a prefix of 0 to 32 bits"),
        ("cidr", "10.0.0.0/255.0.0.0", 9, "expected a prefix of 0 to 32 bits"),
        ("cidr", "net", 0, "expected a network such as 10.0.0.0/8 or 2001:db8::/32, found 'net'"),
    ],
)
def test_mistakes_in_patterns_have_their_place(operator: str, pattern: str, at: int, message: str) -> None:
    with pytest.raises(PatternError) as caught:
        condition_of(operator, pattern)
    assert message in caught.value.message
    assert caught.value.at == at
    assert "\n" not in str(caught.value)


@given(
    st.sampled_from(["like", "like~", "matches", "matches~", "cidr"]),
    st.text(alphabet="ab\\*?()[]{}|^$.-:/,0129", max_size=12),
)
def test_any_text_is_a_pattern_or_has_a_mistake(operator: str, pattern: str) -> None:
    at = 0
    try:
        condition_of(operator, pattern).holds("ab")
    except PatternError as error:
        at = error.at
    assert 0 <= at <= len(pattern)
