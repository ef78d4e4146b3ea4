"""Names with code in them: text in the page, in a notebook and in pictures, and never more."""

import pytest
from payloads import PAYLOADS, SCAN, SCRIPTS
from report_cases import CASES, fitted, random_graphs

import eigengraphs as eg
from eigengraphs.report import read_summary, write_page, write_report

N = len(PAYLOADS)


def harmless(page):
    assert page.evaluate("() => window.hit") is None
    assert page.evaluate(SCAN) == []


@pytest.mark.parametrize("without_policy", [False, True])
def test_thirty_payloads_are_text_in_the_page(visit, tmp_path, without_policy):
    """Also after report.json, and where the policy is off: it is the second lock, not the first."""
    assert N >= 30
    path = write_report(CASES["payloads"](), tmp_path)[0]
    if without_policy:
        path = write_page(read_summary(tmp_path), tmp_path / "again.html")
    page = visit(path, bypass_csp=without_policy)
    policy = page.locator('meta[http-equiv="Content-Security-Policy"]').get_attribute("content")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    harmless(page)
    assert page.evaluate(SCRIPTS) == 2  # its data, and its own
    for plot in ("#loadings-plot", "#vertices-plot"):
        for point in page.locator(f"{plot} .point").all()[:N]:
            point.dispatch_event("pointerenter")
            point.dispatch_event("pointermove")
    for select in page.locator("select").all():
        values = select.locator("option").evaluate_all("os => os.map(o => o.value)")
        for value in values[:4]:
            select.evaluate("(s, v) => { s.value = v; s.dispatchEvent(new Event('change', "
                            "{bubbles: true})); }", value)  # fmt: skip
            harmless(page)
    page.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = true; })")
    harmless(page)
    assert page.evaluate(SCRIPTS) == 2
    named = set(page.locator("#graph-rows tr th").all_inner_texts())
    assert {" ".join(text.split()) for text in PAYLOADS} <= {" ".join(x.split()) for x in named}


def test_as_html_they_would_run(browser):
    """The scan sees what it is to see: the same names, not as text."""
    page = browser.new_page()
    page.set_content("<body>" + PAYLOADS[0] + "".join(PAYLOADS[9:13]) + PAYLOADS[15] + "</body>")
    page.wait_for_function("() => window.hit === 1")
    assert len(page.evaluate(SCAN)) == 5
    page.close()


def test_they_are_text_in_a_notebook_and_in_pictures(browser, tmp_path):
    Figure = pytest.importorskip("matplotlib.figure").Figure
    graphs = random_graphs(N, N, graph_names=PAYLOADS, vertex_names=PAYLOADS)
    je = fitted(graphs, 2)
    shown = [graphs, je, *(eg.JointEmbedding(2, loadings=text) for text in PAYLOADS)]
    page = browser.new_page()
    page.set_content("<body>" + "".join(x._repr_html_() for x in shown) + "</body>")
    harmless(page)
    assert page.evaluate(SCRIPTS) == 0
    figure = Figure(figsize=(8, 8))
    axes = figure.subplots(2, 1)
    eg.plot.loadings(je, ax=axes[0], color=[PAYLOADS[i % 6] for i in range(N)])
    eg.plot.positions(je, ax=axes[1], color=[PAYLOADS[6 + i % 6] for i in range(N)])
    axes[0].set_title(PAYLOADS[0])
    figure.savefig(tmp_path / "picture.svg")
    page.goto((tmp_path / "picture.svg").as_uri())
    harmless(page)
    assert page.evaluate(SCRIPTS) == 0
    page.close()
