/** The small script of an embedded view: unpacks the large one, whose hash the page's policy names too. */
import { unpacked } from "./packed.ts";
import { INCOMPLETE, say } from "./status.ts";

async function run(): Promise<void> {
  const script = document.createElement("script");
  script.textContent = await (await unpacked("tvmdbg-script")).text();
  document.body.append(script);
}

addEventListener("DOMContentLoaded", () => {
  run().catch((error: unknown) => say(`${INCOMPLETE} (${String(error)})`, "error"));
});
