"""Which process runs which file of tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

BROWSER = "tests/ui/"
#: Of one process: it loads JupyterLab once for all of them.
HOSTS = "tests/ui/hosts/"


class BrowsersBeside(LoadFileScheduling):
    """One process of four begins with the tests of views, the others with all else.

    That one waits for a page half of the time, these for a processor. None goes back to other
    tests once it had a browser: Playwright leaves an event loop running, and what starts its own
    then fails.
    """

    def _split_scope(self, nodeid: str) -> str:
        return HOSTS if nodeid.startswith(HOSTS) else super()._split_scope(nodeid)

    def _assign_work_unit(self, node: WorkerController) -> None:
        wanted = self._begins_with_browser(node)
        fitting = [scope for scope in self.workqueue if scope.startswith(BROWSER) == wanted]
        if not fitting and not wanted:
            fitting = list(self.workqueue)
        if not fitting:
            node.shutdown()
            return
        self.workqueue.move_to_end(fitting[0], last=False)
        super()._assign_work_unit(node)

    def _begins_with_browser(self, node: WorkerController) -> bool:
        nodes = list(self.assigned_work)
        return nodes.index(node) < len(nodes) // 4
