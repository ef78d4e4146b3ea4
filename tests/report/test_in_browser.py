"""The page as a reader meets it: hovered, brushed, by keyboard, printed, at every size."""

import pytest
from report_cases import CASES, small

from eigengraphs.report import write_report
from eigengraphs.report.page import SECTIONS


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    summary = small()[2]
    return write_report(summary, tmp_path_factory.mktemp("small"))[0], summary


@pytest.fixture
def page(visit, report):
    return visit(report[0])


def points(page, plot="#loadings-plot"):
    return page.locator(f"{plot} .point")


def places(page, plot="#loadings-plot"):
    return points(page, plot).evaluate_all("ps => ps.map(p => p.getAttribute('transform'))")


def looks(page, plot="#loadings-plot"):
    script = "ps => ps.map(p => p.getAttribute('fill') + p.getAttribute('d'))"
    return points(page, plot).evaluate_all(script)


def rows(page):
    return page.locator("#graph-rows tr th").all_inner_texts()


def test_every_section_is_there_in_order_and_seen(page):
    found = page.locator("main > section").evaluate_all("s => s.map(e => e.id)")
    assert found == list(SECTIONS)
    for name in found:
        assert page.locator(f"#{name} h2").is_visible()
    assert page.locator("header .lead p").count() >= 4
    assert page.locator("#timeline-plot svg").count() == 3
    assert page.locator("#timeline-plot svg").first.locator(".point").count() == 12
    assert page.locator("#map-plot figure").count() == 3
    before = looks(page, "#map-plot")
    page.select_option("#map-component", "l1")
    assert looks(page, "#map-plot") != before


def test_axes_move_the_points_to_their_loadings(page, report):
    before = places(page)
    page.select_option("#loadings-x", "k2")
    after = places(page)
    assert before != after
    x = [float(text.split("(")[1].split(",")[0]) for text in after]
    loading = report[1].loadings[:, 2]
    order = sorted(range(12), key=lambda i: loading[i])
    assert order == sorted(range(12), key=lambda i: x[i])
    title = page.locator("#loadings-plot .x-title").text_content()
    assert title.startswith("loading of component 3")
    page.select_option("#loadings-x", "n1")  # the column age; one is not known
    assert points(page).count() == 11
    assert page.locator("#loadings-plot .x-title").text_content() == "age"


def test_colours_follow_the_column_and_so_do_shapes(page):
    by_group = looks(page)
    assert len(set(by_group)) == 3
    assert by_group[0] == by_group[3] != by_group[1]
    assert page.locator("#loadings-legend li").all_inner_texts() == [
        "patient (4)", "control (4)", "carrier (4)",
    ]  # fmt: skip
    shapes = points(page).evaluate_all("ps => ps.map(p => p.getAttribute('d'))")
    assert len(set(shapes)) == 3
    page.select_option("#loadings-color", "1")
    assert len(set(looks(page))) == 12  # a ramp, and the one that is not known
    legend = page.locator("#loadings-legend").inner_text()
    assert "20" in legend
    assert "75" in legend
    assert "unknown" in legend
    page.select_option("#loadings-color", "")
    assert len(set(looks(page))) == 1


def in_view(locator):
    """Scroll to it, and wait until the page knows: it then takes a tooltip away."""
    locator.scroll_into_view_if_needed()
    frame = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    locator.page.evaluate(frame)
    return locator


def test_hovering_tells_the_graph_and_its_columns(page):
    in_view(points(page).nth(5)).hover()
    page.locator("#tooltip").wait_for()
    text = page.locator("#tooltip").inner_text()
    assert text.startswith("sub-05")
    assert "group: carrier" in text
    assert "age: " in text
    page.mouse.move(2, 2)
    assert page.locator("#tooltip").is_hidden()


def area(page):
    page.locator("#loadings-plot svg").scroll_into_view_if_needed()
    return page.locator("#loadings-plot .area").bounding_box()


def box_around(page, i):
    return points(page).nth(i).bounding_box()


def test_brushing_filters_the_table_and_reset_undoes_it(page):
    assert len(rows(page)) == 12
    frame = area(page)
    page.mouse.move(frame["x"] + 1, frame["y"] + 1)
    page.mouse.down()
    middle = frame["x"] + frame["width"] / 2
    page.mouse.move(middle, frame["y"] + frame["height"] - 1, steps=4)
    page.mouse.up()
    left = [i for i in range(12) if box_around(page, i)["x"] + 4 < middle]
    assert 0 < len(left) < 12
    expected = [f"sub-{i:02d}" for i in left]
    assert rows(page) == expected
    faded = points(page).locator("xpath=self::*[contains(@class, 'faded')]")
    assert faded.count() == 12 - len(left)
    assert page.locator("#graph-count").inner_text() == f"{len(left)} of 12 graphs"
    page.fill("#graph-search", "patient")  # within what is brushed
    assert rows(page) == [f"sub-{i:02d}" for i in left if i % 3 == 0]
    page.click("#loadings-reset")
    assert len(rows(page)) == 12
    assert page.input_value("#graph-search") == ""
    points(page).nth(3).click()  # of one
    assert rows(page) == ["sub-03"]
    page.select_option("#loadings-y", "k2")
    assert rows(page) == ["sub-03"]  # another view of the same choice
    frame = area(page)
    page.mouse.click(frame["x"] + 2, frame["y"] + 2)
    assert len(rows(page)) == 12


def test_the_keyboard_reaches_controls_points_and_cells(page):
    reached = []
    for _ in range(70):
        page.keyboard.press("Tab")
        name = "e => e.id || e.getAttribute('class') || e.tagName"
        reached.append(page.evaluate(f"({name})(document.activeElement)"))
        if reached[-1] == "BODY":
            break  # once around
    for control in ("loadings-x", "loadings-y", "loadings-color", "loadings-reset",
                    "graph-search", "vertices-x", "map-component"):  # fmt: skip
        assert control in reached
    assert reached[0] == "skip"
    assert "cells" in reached
    assert any(name.startswith("point") for name in reached)
    assert reached.count("loadings-x") == 1
    assert "points" not in reached  # one stop for a plot


def test_arrow_keys_walk_and_enter_chooses(page):
    page.locator("#loadings-reset").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.locator("#tooltip").wait_for()
    assert page.locator("#tooltip").inner_text().startswith("sub-02")
    assert page.locator("#announce").text_content().startswith("sub-02")
    page.keyboard.press("Enter")
    assert rows(page) == ["sub-02"]
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert rows(page) == ["sub-01", "sub-02"]
    page.keyboard.press("Escape")
    assert len(rows(page)) == 12


def test_controls_and_pictures_have_names_for_screen_readers(page):
    unnamed = page.evaluate("""() => [...document.querySelectorAll(
        'select, input, canvas, svg[role], [role=img], [role=region]')]
        .filter(e => !(e.getAttribute('aria-label') || (e.labels && e.labels.length)))
        .map(e => e.outerHTML.slice(0, 80))""")
    assert unnamed == []


def test_component_maps_hold_the_products_of_positions(page, report):
    H = report[1].positions
    canvas = page.locator('[data-component="1"] canvas')
    assert canvas.evaluate("c => [c.width, c.height]") == [14, 14]
    script = "c => [...c.getContext('2d').getImageData(0, 0, 14, 14).data]"
    pixels = canvas.evaluate(script)
    for s, t in ((0, 1), (0, 13), (5, 9)):
        red, _, blue, _ = pixels[4 * (14 * s + t) : 4 * (14 * s + t) + 4]
        assert (red > blue) == (H[s, 1] * H[t, 1] > 0)
    box = in_view(canvas).bounding_box()
    page.mouse.move(box["x"] + box["width"] * 2.5 / 14, box["y"] + box["height"] * 0.5 / 14)
    page.locator("#tooltip").wait_for()  # of what is not shown yet, the text has no lines
    text = page.locator("#tooltip").inner_text()
    assert "region 0 – region 2" in text
    assert text.splitlines()[-1] == f"{H[0, 1] * H[2, 1]:.3g}".replace("-", "−")


def test_the_time_line_by_a_column_is_in_its_order(visit, tmp_path):
    when = [f"20{19 + i // 6}-{12 - i % 12:02d}" for i in range(12)]
    summary = small(columns={"month": when}, label=None, ordered="month")[2]
    page = visit(write_report(summary, tmp_path)[0])
    strip = page.locator("#timeline-plot svg").nth(1)
    told = strip.locator(".point").evaluate_all("ps => ps.map(p => p.getAttribute('aria-label'))")
    assert [text.split(", ")[1] for text in told] == [f"month: {m}" for m in sorted(when)]
    names = [f"sub-{i:02d}" for i in sorted(range(12), key=lambda i: when[i])]
    assert [text.split(", ")[0] for text in told] == names
    y = strip.locator(".point").evaluate_all("ps => ps.map(p => -Number(p.getAttribute('cy')))")
    loading = summary.loadings[[int(name[4:]) for name in names], 1]
    assert sorted(range(12), key=lambda i: y[i]) == sorted(range(12), key=lambda i: loading[i])
    labels = strip.locator("text").evaluate_all("ts => ts.map(t => t.textContent)")
    assert [text for text in labels if text.startswith("20")] == sorted(when)
    assert rows(page) == [f"sub-{i:02d}" for i in range(12)]  # the table is as the input


def test_print_shows_whole_tables_and_no_controls(page):
    page.emulate_media(media="print")
    assert page.locator("nav").is_hidden()
    assert page.locator("#loadings-reset").is_hidden()
    assert page.locator("#loadings-plot svg").is_visible()
    assert page.locator('[data-component="0"] canvas').is_visible()
    hidden = page.locator(".wide").evaluate_all("e => e.map(b => b.scrollHeight - b.clientHeight)")
    assert max(hidden) <= 2
    page.set_viewport_size({"width": 720, "height": 1000})  # A4 between its margins
    assert page.evaluate("document.documentElement.scrollWidth") <= 720
    assert page.pdf().startswith(b"%PDF")


def test_a_narrow_screen_does_not_scroll_sideways(visit, report):
    page = visit(report[0], viewport={"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_without_scripts_the_words_are_there(browser, report):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report[0].as_uri())
    assert page.locator("noscript p").is_visible()
    assert "sub-99 has 3 vertices" in page.locator("#problems").inner_text()
    context.close()


@pytest.mark.parametrize("name", CASES)
def test_every_size_and_kind_opens_and_fits(name, visit, tmp_path):
    summary = CASES[name]()
    path, _ = write_report(summary, tmp_path)
    assert path.stat().st_size < 10_000_000
    page = visit(path)  # nothing may go wrong, nothing may be asked of the network
    assert page.evaluate("document.documentElement.scrollWidth") <= 1200
    assert points(page).count() == summary.n_graphs
    assert points(page, "#vertices-plot").count() == summary.n_vertices
    assert page.locator(".heatmap canvas").count() >= summary.n_components
    page.locator("#loadings-y").select_option("order")
    assert page.locator("#loadings-plot .y-title").text_content() == "place in the input"
