import fixtures from './stripe-fixtures.json' with { type: 'json' };

/** Members of an object, as Stripe names them. */
export type Fields = Record<string, unknown>;

/** Objects of the account, in the shapes of Stripe's published fixtures. */
export class StripeObjects {
  readonly #objects = new Map<string, Fields>();
  #count = 0;

  find(id: string): Fields | undefined {
    return this.#objects.get(id);
  }

  get(id: string): Fields {
    const object = this.find(id);
    if (object === undefined) throw new Error(`the stand-in has no ${id}`);
    return object;
  }

  list(kind: string): Fields[] {
    return [...this.#objects.values()].filter(({ object }) => object === kind);
  }

  update(id: string, changes: Fields): void {
    Object.assign(this.get(id), changes);
  }

  /** Adds an object: the fixture of its kind with these members. */
  put(kind: string, prefix: string, fields: Fields): Fields {
    const shape: Fields = Object.entries(fixtures).find(([name]) => name === kind)?.[1] ?? {};
    const object = { ...shape, ...fields, id: this.newId(prefix), object: kind };
    this.#objects.set(object.id, object);
    return object;
  }

  newId(prefix: string): string {
    this.#count += 1;
    return `${prefix}_${String(this.#count).padStart(14, '0')}`;
  }
}

/** Returns a list with all of its objects on one page. */
export const toList = (url: string, data: readonly Fields[]): Fields => ({
  object: 'list',
  url,
  data: structuredClone(data),
  has_more: false,
});
