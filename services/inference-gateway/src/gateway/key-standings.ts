import type { Admission, KeyStandingRequest } from '@svc/contracts';
import type { ApiKeyCaller } from '@svc/service-kit';
import { toRefusal } from './key-refusal.ts';

/** Remembers which keys may spend something, so that others are refused before their bodies are read. */
export interface KeyStandings {
  /** Throws the refusal of a key that may not spend anything. Asks billing unless the key was admitted a moment ago. */
  readonly check: (caller: ApiKeyCaller, requestId: string) => Promise<void>;
  readonly noteAdmitted: (caller: ApiKeyCaller) => void;
  readonly forget: (caller: ApiKeyCaller) => void;
}

export interface KeyStandingsOptions {
  readonly ask: (
    question: KeyStandingRequest,
    account: { readonly userId: string; readonly requestId: string },
  ) => Promise<Admission>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** A key that was just admitted has most likely something left. Its admission decides exactly, in any case. */
const BELIEVED_MS = 5_000;
const KEYS_MAX = 50_000;

/** Creates the memory. Refusals are never remembered: a top-up holds for the next request. */
export const createKeyStandings = ({ ask, clock }: KeyStandingsOptions): KeyStandings => {
  const believedUntilMs = new Map<string, number>();
  return {
    check: async (caller, requestId) => {
      const { keyId, userId } = caller;
      if (clock() < (believedUntilMs.get(keyId) ?? 0)) return;
      const standing = await ask(
        {
          key_id: keyId,
          requests_per_minute: caller.requestsPerMinute ?? null,
          ...(typeof caller.tokensPerMinute === 'number' ? { tokens_per_minute: caller.tokensPerMinute } : {}),
          monthly_limit_micros: caller.monthlyLimitMicros ?? null,
        },
        { userId, requestId },
      );
      if (standing.verdict !== 'admitted') throw toRefusal(standing, standing.verdict);
    },
    noteAdmitted: ({ keyId }) => {
      believedUntilMs.delete(keyId);
      believedUntilMs.set(keyId, clock() + BELIEVED_MS);
      const [oldest] = believedUntilMs.keys();
      if (believedUntilMs.size > KEYS_MAX && oldest !== undefined) believedUntilMs.delete(oldest);
    },
    forget: ({ keyId }) => void believedUntilMs.delete(keyId),
  };
};
