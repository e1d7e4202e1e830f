"""``tvmdbg demo``: a real run that rides with the package, as a page."""

from __future__ import annotations

from typing import Annotated

import typer

from tvmdbg_widgets.cli.examples import examples
from tvmdbg_widgets.cli.failures import verb
from tvmdbg_widgets.cli.show import NoBrowser, show_page
from tvmdbg_widgets.cli.terminal import note

EXAMPLES = examples(
    ("A ResNet-20, as TVM ran it", "tvmdbg demo"),
    ("The same in float16, where one operator overflows", "tvmdbg demo --fault"),
    ("Get the path of the files, to try other commands", 'tvmdbg summary "$(tvmdbg demo --path)"'),
)


@verb
def demo(
    *,
    fault: Annotated[
        bool,
        typer.Option("--fault", metavar="", help="The run whose values overflow to Inf and NaN."),
    ] = False,
    path: Annotated[
        bool,
        typer.Option("--path", metavar="", help="Print the dump folder and exit."),
    ] = False,
    no_browser: NoBrowser = False,
) -> None:
    """Show a real run included in this package; no dump of your own needed."""
    from tvmdbg_widgets import samples
    from tvmdbg_widgets.cli.terminal import say

    sample = samples.resnet20_cifar_fp16_overflow if fault else samples.resnet20_cifar
    if path:
        say(str(sample))
        return
    from tvmdbg_widgets.cli.dump import Named

    note(f"ResNet-20{' in float16' if fault else ''}, recorded with TVM 0.19 on a CPU")
    show_page(Named([str(sample)]).open(), no_browser)
