/** The small script of a page: unpacks the large one, whose hash the page's policy names too. */
import { unpacked } from "./packed.ts";
import { sayFailed } from "./status.ts";

async function run(): Promise<void> {
  const script = document.createElement("script");
  script.textContent = new TextDecoder().decode(await unpacked("tvmdbg-script"));
  document.body.append(script);
}

addEventListener("DOMContentLoaded", () => {
  run().catch(sayFailed);
});
