/** The view's own traits: initial state as arguments in Python, read back there as it changes. */
export interface ViewOptions<T> {
  get<K extends keyof T & string>(name: K): T[K];
  set<K extends keyof T & string>(name: K, value: T[K]): void;
  onChange<K extends keyof T & string>(name: K, listener: () => void, signal: AbortSignal): void;
}
