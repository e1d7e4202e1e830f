/**
 * Promises that go on as soon as they are settled. `js/build.mjs` puts them around the engine's bundle in place of the
 * engine's own, whose jobs run only once Python, which a browser runs itself, is done.
 */
type Handler = ((value: unknown) => unknown) | null | undefined;
type Settle = (value: unknown) => void;

class Immediate {
  #state: "open" | "done" | "failed" = "open";
  #value: unknown;
  #waiting: (() => void)[] = [];

  constructor(begin: (resolve: Settle, reject: Settle) => void) {
    const reject: Settle = (error) => this.#settle("failed", error);
    const resolve: Settle = (value) => {
      const { then } = Object(value) as Partial<Immediate>;
      if (typeof then === "function") then.call(value, resolve, reject);
      else this.#settle("done", value);
    };
    try {
      begin(resolve, reject);
    } catch (error) {
      reject(error);
    }
  }

  #settle(state: "done" | "failed", value: unknown): void {
    if (this.#state !== "open") return;
    [this.#state, this.#value] = [state, value];
    for (const go of this.#waiting.splice(0)) go();
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise
  then(done?: Handler, failed?: Handler): Immediate {
    return new Immediate((resolve, reject) => {
      const go = () => {
        const handler = this.#state === "done" ? done : failed;
        if (!handler) (this.#state === "done" ? resolve : reject)(this.#value);
        else {
          try {
            resolve(handler(this.#value));
          } catch (error) {
            reject(error);
          }
        }
      };
      if (this.#state === "open") this.#waiting.push(go);
      else go();
    });
  }

  catch(failed: Handler): Immediate {
    return this.then(null, failed);
  }

  finally(last: () => unknown): Immediate {
    const then = (go: (value: unknown) => unknown) => (value: unknown) =>
      Immediate.resolve(last()).then(() => go(value));
    return this.then(
      then((value) => value),
      then((error) => Immediate.reject(error)),
    );
  }

  static resolve(value?: unknown): Immediate {
    return new Immediate((resolve) => resolve(value));
  }

  static reject(error: unknown): Immediate {
    return new Immediate((_, reject) => reject(error));
  }

  static all(values: Iterable<unknown>): Immediate {
    return new Immediate((resolve, reject) => {
      const all = [...values];
      let left = all.length;
      if (!left) resolve(all);
      for (const [at, value] of all.entries()) {
        Immediate.resolve(value).then((given) => {
          all[at] = given;
          left -= 1;
          if (!left) resolve(all);
        }, reject);
      }
    });
  }
}

export { Immediate as Promise };
