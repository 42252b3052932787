import type { Account } from '@svc/contracts';
import { type Answer, ApiError, type TokenSource, type Transport } from '../api/index.ts';

/** Reason why no one is signed in. */
export type SignedOutReason = 'none' | 'expired' | 'signed_out';

/** State of the session in this browser. */
export type SessionState =
  | { status: 'signed_out'; reason: SignedOutReason }
  | { status: 'deleted'; erasedAt: string }
  | { status: 'signed_in'; account: Account };

/** The one session of this page. Its token is in memory only: after a reload the session is asked for again by its HttpOnly cookie. */
export interface Session extends TokenSource {
  readonly state: () => SessionState;
  readonly subscribe: (listener: () => void) => () => void;
  /** Finds the session that the browser's cookie stands for. Rejects with ApiError where that cannot be told. */
  readonly resume: () => Promise<void>;
  /** Takes over a session that another call has begun, such as a change of password. */
  readonly adopt: (created: Answer<'resumeSession'>) => void;
  /** Takes over a changed profile of the account. */
  readonly updateAccount: (account: Account) => void;
  /** Takes over that the account is to be erased, which ended its sessions. */
  readonly endDeleted: (erasedAt: string) => void;
  /** Takes over a new token of the same session. */
  readonly renewToken: (renewed: Answer<'reauthenticate'>) => void;
  /** Ends the session everywhere. Rejects, still signed in, where the service could not be told. */
  readonly signOut: () => Promise<void>;
}

/** No session, or a release that cannot resume one: both mean that a person signs in. */
const MEANS_SIGNED_OUT = new Set([400, 401, 403, 404, 405, 501]);

/** Creates the session, signed out until `resume`. */
export const createSession = (transport: Transport): Session => {
  let token: string | undefined;
  let state: SessionState = { status: 'signed_out', reason: 'none' };
  let renewing: Promise<string | undefined> | undefined;
  const listeners = new Set<() => void>();
  const set = (next: SessionState, nextToken: string | undefined): void => {
    state = next;
    token = nextToken;
    for (const listener of listeners) listener();
  };
  const begin = ({ session_token, account }: Answer<'resumeSession'>): void =>
    set({ status: 'signed_in', account }, session_token);
  const askAgain = async (): Promise<string | undefined> => {
    const found = await findSession(transport);
    if (found === undefined) set({ status: 'signed_out', reason: 'expired' }, undefined);
    else begin(found);
    return token;
  };

  return {
    state: () => state,
    current: () => token,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    resume: async () => {
      const found = await findSession(transport);
      if (found !== undefined) begin(found);
    },
    renew: () => {
      // Many calls may be refused at one time; all of them wait for the one question.
      renewing ??= askAgain().finally(() => {
        renewing = undefined;
      });
      return renewing;
    },
    adopt: begin,
    updateAccount: (account) => set({ status: 'signed_in', account }, token),
    endDeleted: (erasedAt) => set({ status: 'deleted', erasedAt }, undefined),
    renewToken: ({ session_token }) => set(state, session_token),
    signOut: async () => {
      await transport.send('deleteSession', {}, { token }).catch((error: unknown) => {
        // A session that is refused has ended already.
        if (!(error instanceof ApiError) || !error.isSessionRefused) throw error;
      });
      set({ status: 'signed_out', reason: 'signed_out' }, undefined);
    },
  };
};

const findSession = async (transport: Transport): Promise<Answer<'resumeSession'> | undefined> => {
  try {
    return await transport.send('resumeSession', {});
  } catch (error) {
    if (error instanceof ApiError && MEANS_SIGNED_OUT.has(error.status)) return undefined;
    throw error;
  }
};
