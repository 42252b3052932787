interface Entry<T> {
  readonly value: T;
  place: number;
}

/**
 * Members without an order that come and go with each request. Not a Set: whenever V8 makes a Set's or a Map's table anew, as it
 * does after some deletions, the old table points to the new one, and once one of them is in old space, all that follow it keep
 * what they held alive until the next full collection. A long-lived one with a member for each request so keeps every request (docs/adr/0006).
 */
export class Bag<T> implements Iterable<T> {
  readonly #entries: Entry<T>[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** Answers what takes the member out again; asked twice, it does nothing more. */
  add(value: T): () => void {
    const entry = { value, place: this.#entries.length };
    this.#entries.push(entry);
    return () => this.#remove(entry);
  }

  /** Those that are in it now, whatever comes and goes meanwhile. */
  [Symbol.iterator](): ArrayIterator<T> {
    return this.#entries.map(({ value }) => value).values();
  }

  #remove(entry: Entry<T>): void {
    if (entry.place < 0) return;
    const last = this.#entries.pop();
    if (last !== undefined && last !== entry) {
      this.#entries[entry.place] = last;
      last.place = entry.place;
    }
    entry.place = -1;
  }
}
