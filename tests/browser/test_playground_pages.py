"""The playground in a real browser: what a person types, clicks and sees, by keyboard and on a small screen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest
from doubles.browser import NARROW, WIDE, overflow, page_of, violations
from doubles.playground_process import PlaygroundProcess, playground_process
from playwright.sync_api import Browser, Page, expect

from broker.command.playground.examples import EXAMPLES

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

STOCKS_MATCHES: Final = 97
PATIENCE_MS: Final = 60_000


@pytest.fixture(scope="module")
def playground() -> Iterator[PlaygroundProcess]:
    with playground_process() as running:
        yield running


@pytest.fixture
def page(chromium: Browser, playground: PlaygroundProcess) -> Iterator[Page]:
    with page_of(chromium, playground.address) as opened:
        expect(opened.locator("#status")).to_contain_text(f"{STOCKS_MATCHES} matches", timeout=PATIENCE_MS)
        expect(opened.locator("#diagram svg")).to_be_visible()  # what is below it moves until then
        yield opened


def typed(page: Page, old: str, new: str) -> None:
    """Replace a text in the editor, as somebody who selects and types does."""
    area = page.get_by_label("Subscription file")
    text = area.input_value()
    assert old in text
    area.fill(text.replace(old, new))


def test_matches_follow_what_is_typed_and_mistakes_have_their_place(page: Page) -> None:
    bars = page.locator("#timeline [role=option]")
    expect(bars).to_have_count(STOCKS_MATCHES)
    typed(page, "1.04 * low", "1.08 * low")
    expect(page.locator("#status")).to_contain_text(re.compile(r"\b([3-7]\d) matches"))
    fewer = bars.count()
    assert 21 < fewer < STOCKS_MATCHES
    typed(page, "close > 1.08 * low", "closs > 1.08 * low")
    finding = page.locator("#findings li")
    expect(finding).to_have_text(re.compile(r"^error in line 13 .*'closs'.*did you mean 'close'"))
    expect(page.locator(".shade .line").nth(12).locator(".error").first).to_have_text(re.compile("^closs"))
    finding.get_by_role("button").click()
    assert (
        page.get_by_label("Subscription file").evaluate("(area) => area.value.slice(area.selectionStart).split(' ')[0]")
        == "closs"
    )
    typed(page, "closs", "close")
    expect(finding).to_have_count(0)
    expect(bars).to_have_count(fewer)


def test_the_diagram_comes_back_when_a_mistake_is_taken_back(page: Page) -> None:
    """Of a mistake in the only subscription, and of a file that has none for a while."""
    area = page.get_by_label("Subscription file")
    begin, only, _ = re.split(r"(?m)^(?=# The price rises|# It falls)", area.input_value())
    for wrong in (only.replace("close > 1.04 * low", "closs > 1.04 * low"), ""):
        area.fill(begin + only)
        expect(page.locator("#chips button")).to_have_count(1)
        expect(page.locator("#diagram svg")).to_be_visible()
        area.fill(begin + wrong)
        expect(page.locator("#diagram")).to_have_text("No subscription yet.")
        area.fill(begin + only)
        expect(page.locator("#diagram svg")).to_be_visible()
        expect(page.locator("#explain li").first).to_be_attached()


def test_a_match_says_why_and_an_event_why_not(page: Page) -> None:
    page.locator("#matches tbody tr").first.get_by_role("button", name=re.compile("^Why rising at")).click()
    expect(page.locator("#why-title")).to_have_text(re.compile("^Why at 2012-02-06"))
    expect(page.locator("#reasons .steps > li")).to_have_count(5)
    expect(page.locator("#reasons .yes").first).to_be_visible()
    assert page.locator("#reasons .no").count() == 0
    page.get_by_role("tab", name="Events").click()
    page.get_by_role("button", name="Why not event 7", exact=True).click()
    expect(page.locator("#why-title")).to_have_text("Why not event 7")
    expect(page.locator("#reasons .no").first).to_be_visible()


def test_a_click_on_the_timeline_asks_about_a_match_or_a_gap(page: Page) -> None:
    page.locator("#timeline [role=option] circle").first.click(force=True)
    expect(page.locator("#why-title")).to_have_text(re.compile("^Why at"))
    box = page.locator("#timeline .timeline").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.45, box["y"] + 48)  # below the ticks of the first row
    expect(page.locator("#why-title")).to_have_text(re.compile("^Why not AAPL by"))
    expect(page.locator("#reasons article").first).to_be_visible()


def test_keys_alone_reach_everything(page: Page) -> None:
    page.keyboard.press("Tab")
    expect(page.get_by_text("To the editor")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Subscription file")).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.type("\n# se")
    page.get_by_label("Subscription file").evaluate(
        "(area) => area.setSelectionRange(area.value.indexOf('low}('), area.value.indexOf('low}('))"
    )
    page.keyboard.press("Control+ ")
    expect(page.locator("#words li").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#words")).to_be_hidden()
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.locator("#timeline [role=listbox]").evaluate("(box) => box === document.activeElement"):
            break
    expect(page.locator("#timeline [role=listbox]")).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#caption")).to_have_text(re.compile("^(rising|fall), "))
    page.keyboard.press("Enter")
    expect(page.locator("#why-title")).to_have_text(re.compile("^Why at"))
    page.get_by_role("radio", name=re.compile("^rising")).focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name=re.compile("^fall"))).to_have_attribute("aria-checked", "true")
    expect(page.locator("#matches tbody tr")).to_have_count(21)


def test_a_file_of_ones_own_gets_a_first_query(page: Page, tmp_path: Path) -> None:
    rows = ["when,machine,heat"] + [f"2024-01-01T00:{at:02}:00Z,m{at % 2},{50 + at * 7 % 11}" for at in range(40)]
    own = tmp_path / "machines.csv"
    own.write_text("\n".join(rows))
    page.locator("#file").set_input_files(own)
    expect(page.locator("#status")).to_contain_text("40 events of machines.csv")
    assert "[streams.Machines]" in page.get_by_label("Subscription file").input_value()
    assert page.locator("#time").input_value() == "when"
    assert page.locator("#matches tbody tr").count() > 5
    expect(page.locator("#diagram svg")).to_be_visible()


@pytest.mark.verify
def test_a_refusal_is_shown_politely(page: Page) -> None:
    page.route("**/playground/ask/why", lambda route: route.fulfill(status=200, json={"error": "no reasons are known"}))
    page.locator("#matches .ask").first.click()
    expect(page.locator("#reasons")).to_have_text("no reasons are known")


@pytest.mark.verify
@pytest.mark.parametrize("example", ["weather", "cooling"])
def test_languages_with_registers_and_windows_have_reasons(page: Page, example: str) -> None:
    page.get_by_label("Example").select_option(example)
    expect(page.locator("#status")).to_contain_text("286 events of weather.csv")
    page.locator("#matches .ask").first.click()
    expect(page.locator("#reasons .steps > li").first).to_be_visible()


def test_narrow_screens_and_dark_ones_have_no_violations(chromium: Browser, playground: PlaygroundProcess) -> None:
    with page_of(chromium, playground.address, NARROW, dark=True) as page:
        looked_through(page, ["stocks"])


@pytest.mark.verify
@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("dark", [False, True])
def test_all_examples_are_without_violations(
    chromium: Browser, playground: PlaygroundProcess, size: tuple[int, int], dark: bool
) -> None:
    with page_of(chromium, playground.address, size, dark) as page:
        looked_through(page, [each.name for each in EXAMPLES])


def looked_through(page: Page, names: Sequence[str]) -> None:
    """Every state of the page, with axe."""
    for name in names:
        page.get_by_label("Example").select_option(name)
        expect(page.locator("#diagram svg")).to_be_visible()
        expect(page.locator("#matches tbody tr").first).to_be_visible()
        assert (name, violations(page), overflow(page)) == (name, [], 0)
        page.locator("#matches .ask").first.click()
        expect(page.locator("#reasons > *").nth(0)).not_to_have_text("…")
        page.locator("summary", has_text="How it is run").click()
        assert (name, violations(page), overflow(page)) == (name, [], 0)
        page.get_by_role("tab", name="Events").click()
        page.locator("#events .ask").nth(3).click()
        expect(page.locator("#reasons > *").nth(0)).not_to_have_text("…")
        typed(page, "[streams", "[strems")
        expect(page.locator("#findings li").first).to_be_visible()
        assert (name, violations(page), overflow(page)) == (name, [], 0)
        page.get_by_role("tab", name="Matches").click()
        page.locator("summary", has_text="How it is run").click()
