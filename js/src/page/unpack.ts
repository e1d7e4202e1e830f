/** The small script of a page: unpacks the large one, whose hash the page's policy names too. */
import { runInline } from "./inline.ts";
import { unpacked } from "./packed.ts";
import { sayFailed } from "./status.ts";

async function run(): Promise<void> {
  runInline(new TextDecoder().decode(await unpacked("tvmdbg-script")));
}

addEventListener("DOMContentLoaded", () => {
  run().catch(sayFailed);
});
