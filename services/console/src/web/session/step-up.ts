/** Asks the person to prove who they are before a sensitive act. */
export interface StepUp {
  /** True while the question is open. */
  readonly isAsked: () => boolean;
  readonly subscribe: (listener: () => void) => () => void;
  /** Opens the question. Resolves to false if the person gives up. Calls that come meanwhile share the question. */
  readonly ask: () => Promise<boolean>;
  /** Closes the question. */
  readonly answer: (isProven: boolean) => void;
}

/** Creates the question, closed. */
export const createStepUp = (): StepUp => {
  let question: PromiseWithResolvers<boolean> | undefined;
  const listeners = new Set<() => void>();
  const set = (next: typeof question): void => {
    question = next;
    for (const listener of listeners) listener();
  };
  return {
    isAsked: () => question !== undefined,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    ask: () => {
      if (question === undefined) set(Promise.withResolvers<boolean>());
      return question?.promise ?? Promise.resolve(false);
    },
    answer: (isProven) => {
      const asked = question;
      set(undefined);
      asked?.resolve(isProven);
    },
  };
};
