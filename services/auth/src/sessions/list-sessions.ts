import type { ListedSession } from '@svc/contracts';
import type { Clock } from '@svc/service-kit';
import type { Executor } from '../transact.ts';
import { listSessionsOfUser } from './queries.ts';
import { endOfSession, lastUseOf } from './session.ts';

const SESSIONS_MAX = 200;

/** Lists the live sessions of the caller's account, the last used first. */
export const listSessions = async (
  deps: { database: Executor; clock: Clock; sessionIdleMs: number },
  caller: { userId: string; sessionId: string },
): Promise<ListedSession[]> => {
  const now = deps.clock();
  const sessions = await listSessionsOfUser(deps.database, caller.userId, { now, limit: SESSIONS_MAX });
  return sessions
    .filter((session) => endOfSession(session, deps.sessionIdleMs) > now)
    .map((session) => ({
      id: session.id,
      created_at: session.createdAt.toISOString(),
      last_used_at: lastUseOf(session).toISOString(),
      user_agent: session.userAgent,
      source: session.network,
      is_current: session.id === caller.sessionId,
    }));
};
