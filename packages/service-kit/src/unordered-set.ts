interface Entry<T> {
  readonly value: T;
  index: number;
}

/**
 * Unordered set for members that come and go with each request. V8 links the old table of a `Set` or `Map` to its
 * replacement. Once one table reaches old space, every later one keeps its former members alive until the next full
 * collection (docs/adr/0006). An array with swap removal has no such link.
 */
export class UnorderedSet<T> implements Iterable<T> {
  readonly #entries: Entry<T>[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** Adds a member and returns the function that removes it. Calling that function again has no effect. */
  add(value: T): () => void {
    const entry = { value, index: this.#entries.length };
    this.#entries.push(entry);
    return () => this.#remove(entry);
  }

  /** Iterates over a snapshot, so members may be added and removed during iteration. */
  [Symbol.iterator](): ArrayIterator<T> {
    return this.#entries.map(({ value }) => value).values();
  }

  #remove(entry: Entry<T>): void {
    if (entry.index < 0) return;
    const last = this.#entries.pop();
    if (last !== undefined && last !== entry) {
      this.#entries[entry.index] = last;
      last.index = entry.index;
    }
    entry.index = -1;
  }
}
