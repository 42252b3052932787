/** A guarantee that does not hold. Ends the simulation. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/** Collects violations that are noticed within a step, by code that must not throw. */
export interface Violations {
  readonly note: (text: string) => void;
  /** Throws the first violation, if there is one. */
  readonly raise: () => void;
}

export const createViolations = (): Violations => {
  const noted: string[] = [];
  return {
    note: (text) => void noted.push(text),
    raise: () => {
      if (noted.length > 0) throw new Violation(noted.join('; '));
    },
  };
};
