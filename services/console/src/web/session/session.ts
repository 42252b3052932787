import type { Account } from '@svc/contracts';
import { type Answer, ApiError, type TokenSource, type Transport } from '../api/index.ts';

/** Reason why no one is signed in. */
export type SignedOutReason = 'none' | 'expired' | 'signed_out';

/** State of the session in this browser. */
export type SessionState =
  | { status: 'signed_out'; reason: SignedOutReason }
  | { status: 'deleted'; erasedAt: string }
  | { status: 'signed_in'; account: Account };

/** The session of this page. Its token is in memory only: after a reload, the HttpOnly cookie resumes the session. */
export interface Session extends TokenSource {
  readonly state: () => SessionState;
  readonly subscribe: (listener: () => void) => () => void;
  /** Resumes the session of the browser's cookie. Rejects with ApiError if its state is unknown. */
  readonly resume: () => Promise<void>;
  /** Shows an account from its stored state, before the session is resumed. The first call resumes it. */
  readonly restore: (account: Account) => void;
  /** Adopts a session that another call has started, such as a change of password. */
  readonly adopt: (created: Answer<'resumeSession'>) => void;
  /** Adopts a changed profile of the account. */
  readonly updateAccount: (account: Account) => void;
  /** Records that the account will be erased, which ended its sessions. */
  readonly endDeleted: (erasedAt: string) => void;
  /** Adopts a new token of the same session. */
  readonly renewToken: (renewed: Answer<'reauthenticate'>) => void;
  /** Ends the session everywhere. Rejects, still signed in, if the service could not be reached. */
  readonly signOut: () => Promise<void>;
}

/** Statuses of no session, or of a release that cannot resume one: in both cases, the person signs in. */
const MEANS_SIGNED_OUT = new Set([400, 401, 403, 404, 405, 501]);

/** Creates the session, signed out until `resume`. */
export const createSession = (transport: Transport): Session => {
  let token: string | undefined;
  let state: SessionState = { status: 'signed_out', reason: 'none' };
  let renewing: Promise<string | undefined> | undefined;
  let isRestored = false;
  const listeners = new Set<() => void>();
  const set = (next: SessionState, nextToken: string | undefined): void => {
    state = next;
    token = nextToken;
    isRestored &&= next.status === 'signed_in' && nextToken === undefined;
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
      // Many calls may be refused at once; all of them wait for the same request.
      renewing ??= askAgain().finally(() => {
        renewing = undefined;
      });
      return renewing;
    },
    restore: (account) => {
      isRestored = true;
      set({ status: 'signed_in', account }, undefined);
    },
    isRestored: () => isRestored,
    adopt: begin,
    updateAccount: (account) => set({ status: 'signed_in', account }, token),
    endDeleted: (erasedAt) => set({ status: 'deleted', erasedAt }, undefined),
    renewToken: ({ session_token }) => set(state, session_token),
    signOut: async () => {
      await transport.send('deleteSession', {}, { token }).catch((error: unknown) => {
        // A refused session has ended already.
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
