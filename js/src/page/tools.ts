import { button, relabel } from "../shared/ui/dom.ts";
import { say } from "./status.ts";

const DARK = matchMedia("(prefers-color-scheme: dark)");

/** Turns the page from light to dark and back; until then it follows the system or the page's own wish. */
export function themeToggle(): HTMLButtonElement {
  const root = document.documentElement;
  const dark = () => (root.dataset.theme ?? (DARK.matches ? "dark" : "light")) === "dark";
  const label = () => {
    const text = dark() ? "Light" : "Dark";
    relabel(toggle, text, `${text} theme`);
  };
  const toggle = button("", "", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    label();
  });
  DARK.addEventListener("change", label);
  label();
  return toggle;
}

/** Copies the address that leads to what is shown. */
export function copyLink(link: () => string): HTMLButtonElement {
  return button("Copy link", "Copy a link to the selection", () => {
    const copy = (event: ClipboardEvent) => {
      event.clipboardData?.setData("text/plain", link());
      event.preventDefault();
    };
    document.addEventListener("copy", copy, { capture: true });
    const copied = document.execCommand("copy");
    document.removeEventListener("copy", copy, { capture: true });
    say(copied ? `Copied ${link()}` : `This browser does not let pages copy: ${link()}`);
  });
}
