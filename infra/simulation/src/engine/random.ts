/** A seeded generator. Each use of randomness has its own, so that one does not shift the draws of another. */
export interface Random {
  /** Returns a number in [0, 1). */
  readonly next: () => number;
  /** Returns an integer in [min, max]. */
  readonly integer: (min: number, max: number) => number;
  readonly chance: (probability: number) => boolean;
  /** Returns one of the items. Throws RangeError if there are none. */
  readonly pick: <T>(items: readonly T[]) => T;
  /** Returns an exponentially distributed number with this mean. */
  readonly around: (mean: number) => number;
}

/** Creates the generator of a seed and a purpose (splitmix32, seeded by FNV-1a of both). */
export const createRandom = (seed: number, purpose: string): Random => {
  let state = 0x811c9dc5;
  for (const character of `${seed}:${purpose}`) {
    state = Math.imul(state ^ character.charCodeAt(0), 0x01000193) >>> 0;
  }
  const next = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    integer: (min, max) => min + Math.floor(next() * (max - min + 1)),
    chance: (probability) => next() < probability,
    pick: (items) => {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new RangeError('there is nothing to pick from');
      return item;
    },
    around: (mean) => -Math.log(1 - next()) * mean,
  };
};
