/** The part of an axis that is in view, kept inside the whole. */
export class Viewport {
  readonly first: number;
  readonly last: number;
  start: number;
  end: number;

  readonly #least: number;

  /** @param least  the shortest part that can be in view; of times, nanoseconds. */
  constructor(first: number, last: number, least = 0.1) {
    this.#least = least;
    this.first = first;
    this.last = last > first ? last : first + 1;
    this.start = this.first;
    this.end = this.last;
  }

  get span(): number {
    return this.end - this.start;
  }

  get whole(): number {
    return this.last - this.first;
  }

  get all(): boolean {
    return this.start === this.first && this.end === this.last;
  }

  show(start: number, end: number): void {
    const least = Math.min(this.whole, Math.max(this.#least, this.whole * 1e-11));
    const span = Math.min(this.whole, Math.max(least, end - start));
    const wanted = (start + end) / 2 - span / 2;
    this.start = Math.min(Math.max(wanted, this.first), this.last - span);
    this.end = span === this.whole ? this.last : this.start + span;
    if (span === this.whole) this.start = this.first;
  }

  showAll(): void {
    this.show(this.first, this.last);
  }

  /** Zooms so that `at` stays where it is; a factor above 1 shows more. */
  zoom(factor: number, at: number): void {
    const start = at - (at - this.start) * factor;
    const span = this.span * factor;
    if (span >= this.whole) this.showAll();
    else if (span >= this.#least) this.show(start, start + span);
  }

  pan(by: number): void {
    this.show(this.start + by, this.end + by);
  }

  center(at: number): void {
    this.show(at - this.span / 2, at + this.span / 2);
  }

  /** Moves as little as needed for [start, end] to be in view; zooms out only where it does not fit. */
  reveal(start: number, end: number): void {
    if (end - start > this.span) this.show(start, end);
    else if (start < this.start) this.pan(start - this.start - this.span * 0.1);
    else if (end > this.end) this.pan(end - this.end + this.span * 0.1);
  }
}
