import type { Account } from '@svc/contracts';
import { type Answer, ApiError, type TokenSource, type Transport } from '../api/index.ts';

type Organization = NonNullable<Account['organization']>;

/** Reason why no one is signed in. */
export type SignedOutReason = 'none' | 'signed_out';

/** A change of the session, as a tab reports it to the others. */
export type SessionNews = 'signed_out' | 'ended';

/** The other tabs of this browser. */
export interface OtherTabs {
  readonly tell: (news: SessionNews) => void;
  readonly listen: (listener: (news: SessionNews) => void) => void;
}

/** State of the session in this browser. */
export type SessionState =
  | { status: 'signed_out'; reason: SignedOutReason }
  | { status: 'deleted'; erasedAt: string }
  /** The session has ended by itself. The page stays, with what was typed, until the browser has left for the sign-in. */
  | { status: 'ended'; account: Account }
  | { status: 'signed_in'; account: Account };

/** The session of this page. Its token is in memory only: after a reload, the HttpOnly cookie resumes the session. */
export interface Session extends TokenSource {
  readonly state: () => SessionState;
  readonly subscribe: (listener: () => void) => () => void;
  /** Resumes the session of the browser's cookie. Rejects with ApiError if its state is unknown. */
  readonly resume: () => Promise<void>;
  /** Shows an account from its stored state, before the session is resumed. The first call resumes it. */
  readonly restore: (account: Account) => void;
  /**
   * Acts for an organization from now on, or for oneself. Rejects with ApiError if that is not possible, and then acts as
   * before. A later call wins over an earlier one.
   */
  readonly actFor: (organizationId: string | null) => Promise<void>;
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

/** Statuses of no session: the person signs in. */
const MEANS_SIGNED_OUT = new Set([400, 401, 403]);

/** Statuses of an organization for which the person may not act, or no longer. */
const MEANS_NO_MEMBER = new Set([403, 404]);

/** Creates the session, signed out until `resume`. */
export const createSession = (transport: Transport, otherTabs?: OtherTabs): Session => {
  let token: string | undefined;
  /** Counts the switches, of which the last one wins. */
  let turns = 0;
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
  const end = (): void => {
    if (state.status !== 'signed_in') return;
    set({ status: 'ended', account: state.account }, undefined);
    otherTabs?.tell('ended');
  };
  const askAgain = async (): Promise<string | undefined> => {
    const turn = turns;
    const found = await findSession(transport);
    const present = state.status === 'signed_in' ? foreignOrganizationOf(state.account) : undefined;
    const aligned = found === undefined ? undefined : await align(transport, found, present?.id ?? null);
    // The person has chosen another account meanwhile.
    if (turn !== turns) return token;
    if (aligned !== undefined) begin(aligned);
    else end();
    return token;
  };
  const actFor = async (chosen: string | null): Promise<void> => {
    turns += 1;
    const turn = turns;
    const created = await switchTo(transport, chosen, token);
    if (turn !== turns) return;
    if (created === undefined) end();
    else begin(created);
  };
  const renew = (): Promise<string | undefined> => {
    // Many calls may be refused at once; all of them wait for the same request.
    renewing ??= askAgain().finally(() => {
      renewing = undefined;
    });
    return renewing;
  };
  otherTabs?.listen((news) => {
    if (state.status !== 'signed_in') return;
    if (news === 'signed_out') set({ status: 'signed_out', reason: 'signed_out' }, undefined);
    // Without an answer, the next call finds out.
    else void renew().catch(() => undefined);
  });

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
    renew,
    restore: (account) => {
      isRestored = true;
      set({ status: 'signed_in', account }, undefined);
    },
    isRestored: () => isRestored,
    actFor,
    adopt: begin,
    updateAccount: (account) => set({ status: 'signed_in', account }, token),
    endDeleted: (erasedAt) => {
      set({ status: 'deleted', erasedAt }, undefined);
      otherTabs?.tell('signed_out');
    },
    renewToken: ({ session_token }) => set(state, session_token),
    signOut: async () => {
      await transport.send('deleteSession', {}, { token }).catch((error: unknown) => {
        // A refused session has ended already.
        if (!(error instanceof ApiError) || !error.isSessionRefused) throw error;
      });
      set({ status: 'signed_out', reason: 'signed_out' }, undefined);
      otherTabs?.tell('signed_out');
    },
  };
};

/** Switches with this token or, if it is refused, with that of the browser's cookie; undefined if both are. */
const switchTo = async (
  transport: Transport,
  organizationId: string | null,
  token: string | undefined,
): Promise<Answer<'resumeSession'> | undefined> => {
  const body = { organization_id: organizationId };
  try {
    return await transport.send('switchOrganization', { body }, { token });
  } catch (error) {
    if (!(error instanceof ApiError) || !error.isSessionRefused) throw error;
    const found = await findSession(transport);
    if (found === undefined || foreignOrganizationOf(found.account)?.id === (organizationId ?? undefined)) return found;
    return await transport.send('switchOrganization', { body }, { token: found.session_token });
  }
};

/** Returns the session of the organization that the tab acts for, or the found one if the person has left it. */
const align = async (
  transport: Transport,
  found: Answer<'resumeSession'>,
  organizationId: string | null,
): Promise<Answer<'resumeSession'>> => {
  if (foreignOrganizationOf(found.account)?.id === (organizationId ?? undefined)) return found;
  const body = { organization_id: organizationId };
  try {
    return await transport.send('switchOrganization', { body }, { token: found.session_token });
  } catch (error) {
    if (error instanceof ApiError && MEANS_NO_MEMBER.has(error.status)) return found;
    throw error;
  }
};

/** Returns the organization that a person acts for, unless it is their own business account. */
export const foreignOrganizationOf = ({ organization, svc_user_id }: Account): Organization | undefined =>
  organization === null || organization.id === svc_user_id ? undefined : organization;

/** Returns the id of the account that the pages are about: an organization, or the signed-in person. */
export const accountIdOf = (account: Account): string => foreignOrganizationOf(account)?.id ?? account.svc_user_id;

/**
 * Limits a session to the account that its pages are about. A call that was begun for one account is never repeated for
 * another.
 */
export const tokensFor = (session: Session, accountId: string | undefined): TokenSource => {
  const ofAccount = (token: string | undefined): string | undefined => {
    const state = session.state();
    const account = state.status === 'signed_in' ? state.account : undefined;
    return (account && accountIdOf(account)) === accountId ? token : undefined;
  };
  return {
    current: () => ofAccount(session.current()),
    isRestored: session.isRestored,
    renew: async () => ofAccount(await session.renew()),
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

const CHANNEL = 'svc.session';

/** Connects to the other tabs of this browser. Without channels, each tab finds out by its next call. */
export const openTabs = (): OtherTabs => {
  if (!('BroadcastChannel' in window)) return { tell: () => undefined, listen: () => undefined };
  const channel = new BroadcastChannel(CHANNEL);
  return {
    tell: (news) => channel.postMessage(news),
    listen: (listener) => channel.addEventListener('message', ({ data }: MessageEvent<SessionNews>) => listener(data)),
  };
};

/** Minimum and maximum length of a new password, as in the service. */
export const PASSWORD_CHARACTERS = { min: 12, max: 128 } as const;
