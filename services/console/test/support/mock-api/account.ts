import { routes } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import { accountFor } from './organization-state.ts';
import { freshSession, knownById } from './session-body.ts';
import { daysFromNow, type MockState, possessionsOf } from './state.ts';

const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36';
const ERASURE_DAYS = 7;

/** Profile, sessions, export and deletion. */
export const accountBindings = (state: MockState): Binding[] => [
  bind(routes.updateAccount, async ({ body, caller }) => {
    const { account } = knownById(state, caller.userId);
    const changes = Object.entries(body).filter(([, value]) => value !== undefined);
    Object.assign(account, Object.fromEntries(changes));
    return { status: 200, body: { account: accountFor(state, account, caller.organization?.id) } };
  }),
  bind(routes.upgradeAccount, async ({ body, caller }) => {
    const { account } = knownById(state, caller.userId);
    Object.assign(account, { account_type: 'business', business_name: body.business_name });
    return { status: 200, body: freshSession(state, account) };
  }),
  bind(routes.getSso, async () => ({ status: 200, body: { enabled: false, name: null } })),
  bind(routes.listSessions, async ({ caller }) => {
    const now = new Date().toISOString();
    const current = {
      id: caller.sessionId,
      created_at: daysFromNow(-0.2),
      last_used_at: now,
      user_agent: USER_AGENT,
      source: '192.0.2.0/24',
      is_current: true,
    };
    return { status: 200, body: { data: [...possessionsOf(state, caller.userId).otherSessions, current] } };
  }),
  bind(routes.deleteSessionById, async ({ params, caller }) => {
    const owned = possessionsOf(state, caller.userId);
    if (!owned.otherSessions.some(({ id }) => id === params.session_id)) throw new AppError('not_found');
    owned.otherSessions = owned.otherSessions.filter(({ id }) => id !== params.session_id);
    return { status: 204 };
  }),
  bind(routes.deleteOtherSessions, async ({ caller }) => {
    possessionsOf(state, caller.userId).otherSessions = [];
    return { status: 204 };
  }),
  bind(routes.exportAccount, async ({ caller }) => {
    const { email } = knownById(state, caller.userId).account;
    const now = new Date().toISOString();
    return {
      status: 200,
      body: {
        version: 1 as const,
        svc_user_id: caller.userId,
        created_at: now,
        auth: { accounts: [{ email }] },
        billing: {},
        inference_gateway: {},
        webhook_dispatcher: { connections: [], events: [], event_retention: [{ days: 90, kept_since: now }] },
      },
    };
  }),
  bind(routes.deleteAccount, async ({ caller }) => {
    possessionsOf(state, caller.userId).isDeleted = true;
    state.sessions.clear();
    return { status: 202, body: { erased_at: daysFromNow(ERASURE_DAYS) } };
  }),
];
