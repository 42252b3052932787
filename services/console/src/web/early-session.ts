import type { operations } from './api/index.ts';

type Fetch = typeof globalThis.fetch;

const PATH: (typeof operations)['resumeSession']['path'] = '/v1/console/session/resume';

let asked: Promise<Response> | undefined;

/** Asks for the session of the browser's cookie, before the code that waits for it has been loaded. */
export const askForSession = (): void => {
  asked = fetch(PATH, { method: 'POST', cache: 'no-store', headers: { Accept: 'application/json' } });
  // The boot handles a failure.
  asked.catch(() => undefined);
};

/** Returns `fetch` that answers the first question for the session by what has been asked already. */
export const withAskedSession =
  (fetch: Fetch): Fetch =>
  (input, init) => {
    if (input !== PATH || asked === undefined) return fetch(input, init);
    const answer = asked;
    asked = undefined;
    const { signal } = init ?? {};
    return signal == null ? answer : Promise.race([answer, rejectOnAbort(signal)]);
  };

const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
