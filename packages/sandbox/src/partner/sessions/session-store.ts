import type { ChatMessage, ConnectSession } from '@svc/partner-sdk';
import type { Problem } from '../pages/index.ts';

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
