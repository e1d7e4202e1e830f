/** Runs a script in this page, whose policy names its hash. */
export function runInline(text: string): void {
  const script = document.createElement("script");
  script.textContent = text;
  document.body.append(script);
}
