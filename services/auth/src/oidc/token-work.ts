import { AsyncLocalStorage } from 'node:async_hooks';
import type { OauthClient } from '../apps/index.ts';
import type { GrantRecord } from '../connections/index.ts';
import type { TokenQuestion, TokenState } from './token-state.ts';

/** A refresh token that the library has made and that is to be stored. */
export interface NewRefreshToken {
  digest: Buffer;
  grantId: string;
  generation: number;
  /** Thumbprint of the key that it is bound to (RFC 9449 section 5). */
  keyThumbprint: string | null;
  issuedAt: Date;
  expiresAt: Date;
}

/** An authorization code or a refresh token that is, or is about to be, used up. */
export interface Consumption {
  kind: 'authorization_code' | 'refresh_token';
  digest: Buffer;
  grantId: string;
}

/**
 * What one request to the library reads, and what it wants to change. The library writes piece by piece; we collect the
 * pieces and write them in one transaction before the answer goes out, so that a crash leaves all of them or none.
 */
export interface TokenWork {
  /** At the token endpoint, presenting something used up is reuse; at the revocation endpoint it is not. */
  readonly detectsReuse: boolean;
  /** What the request's form presents; to be asked once the library has read the form. */
  readonly presents: () => Omit<TokenQuestion, 'clientId'>;
  app: OauthClient['app'] | undefined;
  /** What was read of the request's app and of what it presents, all at once. */
  state: { question: TokenQuestion; answer: TokenState } | undefined;
  /** The grant of what the library has found. */
  grant: GrantRecord | undefined;
  /** What the client has presented, once it was found. */
  presented: Consumption | undefined;
  /** The same, once the library found nothing wrong with it. */
  consumption: Consumption | undefined;
  refreshToken: NewRefreshToken | undefined;
  /** Grants that end whatever the answer is. */
  readonly endedGrantIds: Set<string>;
}

const storage = new AsyncLocalStorage<TokenWork>();

/** Runs one request of the library with work of its own. */
export const withTokenWork = async (
  options: Pick<TokenWork, 'detectsReuse' | 'presents'>,
  run: (work: TokenWork) => Promise<void>,
): Promise<void> => {
  const work: TokenWork = {
    ...options,
    app: undefined,
    state: undefined,
    grant: undefined,
    presented: undefined,
    consumption: undefined,
    refreshToken: undefined,
    endedGrantIds: new Set(),
  };
  await storage.run(work, () => run(work));
};

/** The work of the request in which this is called. Throws outside of one. */
export const currentTokenWork = (): TokenWork => {
  const work = storage.getStore();
  if (work === undefined) throw new Error('the library was used outside of a request');
  return work;
};
