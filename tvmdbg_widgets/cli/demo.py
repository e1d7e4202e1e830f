"""``tvmdbg demo``: a recorded run of the package, as a page."""

from __future__ import annotations

from typing import Annotated

from tvmdbg_widgets.cli.common.dump import NamedRun
from tvmdbg_widgets.cli.common.terminal import note, say
from tvmdbg_widgets.cli.common.verbs import UsageError, examples, flag, verb
from tvmdbg_widgets.cli.show import NoBrowser, show_page

EXAMPLES = examples(
    ("A ResNet-20, as TVM ran it", "tvmdbg demo"),
    ("The same in float16, where one operator overflows", "tvmdbg demo --fault"),
    ("A delegate in ExecuTorch, with what it logged", "tvmdbg demo --executorch"),
    ("Get the path of the files, to try other commands", 'tvmdbg summary "$(tvmdbg demo --path)"'),
)


@verb
def demo(
    *,
    fault: Annotated[
        bool, flag("The run whose values overflow to Inf and NaN.", "--fault")
    ] = False,
    executorch: Annotated[
        bool, flag("A run of ExecuTorch with a delegate that logs.", "--executorch")
    ] = False,
    path: Annotated[bool, flag("Print the dump folder and exit.", "--path")] = False,
    no_browser: NoBrowser = False,
) -> None:
    """Show a real run included in this package; no dump of your own needed."""
    from tvmdbg_widgets import samples

    if fault and executorch:
        raise UsageError("--fault and --executorch are two runs: choose one")
    sample, title = samples.resnet20_cifar, "ResNet-20, recorded with TVM 0.19 on a CPU"
    if fault:
        sample = samples.resnet20_cifar_fp16_overflow
        title = "ResNet-20 in float16, recorded with TVM 0.19 on a CPU"
    elif executorch:
        sample = samples.executorch_demo_delegate
        title = "A network with a delegate, recorded with ExecuTorch 1.5.1 on a CPU"
    if path:
        say(str(sample))
        return
    note(title)
    show_page(NamedRun([str(sample)]).open(), no_browser)
