"""The site that `make docs` builds: no warning, no request to the outside, nothing sticks out."""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.ui.saved import READY

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
PAGES = [
    *(f"{path.stem}.html" for path in sorted((ROOT / "docs").glob("*.md"))),
    *(f"notebooks/{path.stem}.html" for path in sorted((ROOT / "notebooks").glob("*.ipynb"))),
]
OUTSIDE = re.compile(
    r"""<(?:script|img|iframe|link|source)\b[^>]*?\b(?:src|href)="(?:https?:)?//[^"]*""",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def site(bundles: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the site, built anew as `make docs` builds it."""
    pytest.importorskip("sphinx", reason="`pip install '.[docs]'` to build the documentation")
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E"]
    command += ["-d", str(out / "doctrees"), "docs", str(out / "html")]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    bars = "%|"  # of work that takes longer than a second on a slow machine
    assert not [line for line in built.stderr.splitlines() if line.strip() and bars not in line]
    return out / "html"


def test_site_loads_no_external_resources(site: Path) -> None:
    for path in site.rglob("*.html"):
        found = [each for each in OUTSIDE.findall(path.read_text("utf-8")) if "srcdoc" not in each]
        assert not found, f"{path.relative_to(site)}: {found}"


def test_internal_links_resolve(site: Path) -> None:
    texts = {path: path.read_text("utf-8") for path in site.rglob("*.html")}
    for path, text in texts.items():
        if path.name == "overflow.html":
            continue
        for href in re.findall(r'<a\b[^>]*\bhref="([^"]+)"', text):
            if re.match(r"[a-z]+:", href):
                continue
            file, _, anchor = href.partition("#")
            target = (path.parent / unquote(file)).resolve() if file else path
            assert target.is_file(), f"{path.relative_to(site)}: {href}"
            if anchor and target.suffix == ".html":
                assert f'id="{unquote(anchor)}"' in texts[target], f"{path.name}: {href}"


def test_site_contains_no_local_paths(site: Path) -> None:
    for path in [*site.rglob("*.html"), *site.rglob("*.svg"), *site.rglob("*.ipynb")]:
        text = path.read_text("utf-8")
        assert str(ROOT) not in text, path
        assert not re.search(r"[\"' ]/(?:home|root|Users)/", text), path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_page_fits_width_and_images_load(page: Page, site: Path, name: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.goto((site / name).as_uri())
    for width in (1600, 1300, 1100, 480):
        page.set_viewport_size({"width": width, "height": 900})
        out = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert out <= 0, f"{width} px"
    broken = "[...document.images].filter(each => each.complete && !each.naturalWidth).length"
    assert page.evaluate(broken) == 0


@pytest.mark.parametrize(
    ("name", "least"),
    [(f"notebooks/{name}.html", 4) for name in ("quickstart", "tensors", "making_a_dump")],
)
def test_notebooks_show_figures_on_white(page: Page, site: Path, name: str, least: int) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto((site / name).as_uri())
    figures = page.locator(".cell_output img")
    assert figures.count() >= least
    for figure in figures.all():
        assert figure.evaluate("each => getComputedStyle(each).backgroundColor") == (
            "rgb(255, 255, 255)"
        )


@pytest.mark.parametrize(("name", "text"), [("index.html", "#38"), ("sharing.html", "#38")])
def test_live_frames_are_ready(page: Page, site: Path, name: str, text: str) -> None:
    page.goto((site / name).as_uri())
    page.locator("iframe").scroll_into_view_if_needed()
    frame = page.frames[1]
    frame.wait_for_function(READY, timeout=30_000)
    expect(frame.locator("body")).to_contain_text(text)


def test_search_works_without_a_server(page: Page, site: Path) -> None:
    page.goto((site / "search.html").as_uri() + "?q=save_html")
    hits = page.locator("#search-results li a")
    expect(hits.first).to_be_visible(timeout=30_000)
    found = [each.get_attribute("href") or "" for each in hits.all()]
    assert any(each.startswith("api.html") for each in found)
    assert any(each.startswith("sharing.html") for each in found)


def test_front_page_is_readable_without_scripts(browser: Browser, site: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    expect(page.get_by_role("heading", name="tvmdbg-widgets")).to_be_visible()
    expect(page.get_by_role("link", name="Making a dump").first).to_be_visible()
    context.close()
