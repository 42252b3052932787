import type { Admission, KeyStandingRequest } from '@svc/contracts';
import type { ApiKeyCaller } from '@svc/service-kit';
import { toRefusal } from './key-refusal.ts';

/** Checks that keys can spend something, so that requests of other keys are refused before their bodies are read. */
export interface KeyStandings {
  /** Throws the refusal of a key that cannot spend anything. Asks billing, unless the key was just admitted. */
  readonly check: (caller: ApiKeyCaller, requestId: string) => Promise<void>;
  readonly noteAdmitted: (caller: ApiKeyCaller) => void;
  readonly forget: (caller: ApiKeyCaller) => void;
}

export interface KeyStandingsOptions {
  readonly readStanding: (
    request: KeyStandingRequest,
    account: { readonly userId: string; readonly requestId: string },
  ) => Promise<Admission>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** A key that was just admitted can most likely spend more. In any case, its next admission decides exactly. */
const TRUST_MS = 5_000;
const KEYS_MAX = 50_000;

/** Creates the check. It caches admissions but no refusals, so that a top-up takes effect with the next request. */
export const createKeyStandings = ({ readStanding, clock }: KeyStandingsOptions): KeyStandings => {
  const trustedUntilMs = new Map<string, number>();
  return {
    check: async (caller, requestId) => {
      const { keyId, userId } = caller;
      if (clock() < (trustedUntilMs.get(keyId) ?? 0)) return;
      const standing = await readStanding(
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
      trustedUntilMs.delete(keyId);
      trustedUntilMs.set(keyId, clock() + TRUST_MS);
      const [oldest] = trustedUntilMs.keys();
      if (trustedUntilMs.size > KEYS_MAX && oldest !== undefined) trustedUntilMs.delete(oldest);
    },
    forget: ({ keyId }) => void trustedUntilMs.delete(keyId),
  };
};
