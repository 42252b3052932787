import type { ListedSession } from '@svc/contracts';
import type { Clock } from '@svc/service-kit';
import type { Executor } from '../transact.ts';
import { findSessionById, listSessionsOfUser } from './queries.ts';
import { endOfSession, type SessionRecord, signInOf } from './session.ts';

const SESSIONS_MAX = 200;

export interface ListSessionsDeps {
  readonly database: Executor;
  readonly clock: Clock;
  readonly sessionIdleMs: number;
}

/** Lists the live sessions of an account, last used first. */
export const listLiveSessions = async (deps: ListSessionsDeps, userId: string): Promise<SessionRecord[]> => {
  const now = deps.clock();
  const sessions = await listSessionsOfUser(deps.database, userId, { now, limit: SESSIONS_MAX });
  return sessions.filter((session) => endOfSession(session, deps.sessionIdleMs) > now);
};

/** Lists the live sessions of the caller's account as JSON for their owner. */
export const listSessions = async (
  deps: ListSessionsDeps,
  caller: { userId: string; sessionId: string },
): Promise<ListedSession[]> => {
  const sessions = await listLiveSessions(deps, caller.userId);
  const current = await findSessionById(deps.database, caller.sessionId);
  return sessions.map((session) => ({
    id: session.id,
    created_at: session.createdAt.toISOString(),
    last_used_at: session.lastUsedAt.toISOString(),
    user_agent: session.userAgent,
    source: session.network,
    is_current: current !== undefined && session.id === signInOf(current),
  }));
};
