/** The small script and style of a page: unpacks the large ones, whose hashes the page's policy names too. */
import "./page.css";
import { runInline, sayFailed, unpacked } from "./status.ts";

async function run(): Promise<void> {
  const parts = await Promise.all(["tvmdbg-style", "tvmdbg-script"].map(unpacked));
  const [style, script] = parts.map((part) => new TextDecoder().decode(part));
  const views = document.createElement("style");
  views.textContent = style!;
  document.head.querySelector("style")!.before(views); // the page's own rules come last
  runInline(script!);
}

addEventListener("DOMContentLoaded", () => {
  run().catch(sayFailed);
});
