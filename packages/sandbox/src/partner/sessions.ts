import type { ChatMessage, ConnectSession } from '@svc/partner-sdk';
import type { Request, Response } from 'express';
import type { Problem } from './pages.ts';

/** All ports of a host share their cookies, so the name must be unique. */
const NAME = 'sample_partner_session';
/** `Lax`: the callback is a navigation from another site. Not `Secure`: the loopback address has no https. */
const OPTIONS = { httpOnly: true, sameSite: 'lax', path: '/' } as const;

/** Reads the session id from a request. */
export const readSessionCookie = (request: Request): string | undefined =>
  request.headers.cookie
    ?.split(/;\s*/)
    .find((pair) => pair.startsWith(`${NAME}=`))
    ?.slice(NAME.length + 1);

export const setSessionCookie = (response: Response, id: string): void => {
  response.cookie(NAME, id, OPTIONS);
};

export const clearSessionCookie = (response: Response): void => {
  response.clearCookie(NAME, OPTIONS);
};

const SESSIONS_MAX = 1_000;
const IDLE_MS_MAX = 12 * 60 * 60 * 1000;

/** Server-side state of one browser; never sent to it. */
export interface Session {
  /** A connect flow that this browser has started. */
  connect: ConnectSession | undefined;
  /** The browser's user at the service; the callback sets it from the token response. */
  svcUserId: string | undefined;
  messages: readonly ChatMessage[];
  /** The last message, if it got no answer, and the reason. Kept so that a reload still shows both. */
  unanswered: { readonly message: string; readonly problem: Problem } | undefined;
}

/** Sessions by an id that only their browser knows. */
export interface SessionStore {
  readonly find: (id: string | undefined) => Session | undefined;
  readonly create: () => { id: string; session: Session };
  readonly remove: (id: string | undefined) => void;
}

/** Keeps sessions in memory and evicts the least recently used. */
export const createSessionStore = ({ newId, clock }: { newId: () => string; clock: () => Date }): SessionStore => {
  // Ordered by last use.
  const sessions = new Map<string, { session: Session; usedAtMs: number }>();
  const use = (id: string, session: Session): void => {
    sessions.delete(id);
    sessions.set(id, { session, usedAtMs: clock().getTime() });
  };
  return {
    find: (id) => {
      const found = id === undefined ? undefined : sessions.get(id);
      if (id === undefined || found === undefined) return undefined;
      if (found.usedAtMs + IDLE_MS_MAX < clock().getTime()) {
        sessions.delete(id);
        return undefined;
      }
      use(id, found.session);
      return found.session;
    },
    create: () => {
      const [oldest] = sessions.keys();
      if (sessions.size >= SESSIONS_MAX && oldest !== undefined) sessions.delete(oldest);
      const id = newId();
      const session = { connect: undefined, svcUserId: undefined, messages: [], unanswered: undefined };
      use(id, session);
      return { id, session };
    },
    remove: (id) => {
      if (id !== undefined) sessions.delete(id);
    },
  };
};
