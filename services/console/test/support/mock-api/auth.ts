import { randomBytes } from 'node:crypto';
import { type Account, type App, type BudgetLimit, type Connection, newId, routes } from '@svc/contracts';
import { AppError, type Binding, bind, invalidRequest, readBodyBytes } from '@svc/service-kit';
import { accountFor } from './organization-state.ts';
import { sessionBody } from './session-body.ts';
import { daysFromNow, type MockState, possessionsOf } from './state.ts';

const COOKIE = 'svc_console';
/** The only new password that the mock refuses. */
export const GUESSABLE_PASSWORD = 'aaaaaaaaaaaaa';
const ICON_BYTES_MAX = 256 * 1024;
const MONOGRAM = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="14" fill="#2c6e49"/></svg>',
);

/** The routes of the auth service that the pages call. */
export const authBindings = (state: MockState): Binding[] => [
  ...sessionBindings(state),
  ...credentialBindings(state),
  ...appBindings(state),
  ...secretBindings(state),
  ...connectionBindings(state),
];

const sessionBindings = (state: MockState): Binding[] => [
  bind(routes.showSignIn, async () => ({
    status: 200,
    contentType: 'text/html; charset=utf-8',
    headers: { 'content-security-policy': "default-src 'none'; img-src data:" },
    body: '<!doctype html><html lang="en"><title>Sign in</title><link rel="icon" href="data:,"><h1>Sign in</h1></html>',
  })),
  bind(routes.resumeSession, async ({ req }) => {
    const token = new RegExp(`${COOKIE}=([^;]+)`).exec(req.headers.cookie ?? '')?.[1];
    const email = token === undefined ? undefined : state.sessions.get(token);
    const known = email === undefined ? undefined : state.accounts.get(email);
    if (token === undefined || known === undefined) throw new AppError('not_authenticated');
    return { status: 200, body: sessionBody(state, token, known.account) };
  }),
  bind(routes.deleteSession, async ({ caller }) => {
    for (const [token, email] of state.sessions) {
      if (state.accounts.get(email)?.account.svc_user_id === caller.userId) state.sessions.delete(token);
    }
    return { status: 204 };
  }),
];

const credentialBindings = (state: MockState): Binding[] => {
  const change = (
    userId: string,
    password: string | null | undefined,
    apply: (known: { account: Account; password: string }) => void,
  ) => {
    const known = [...state.accounts.values()].find(({ account }) => account.svc_user_id === userId);
    if (known === undefined || known.password !== password) throw new AppError('wrong_password');
    state.accounts.delete(known.account.email);
    state.sessions.clear();
    apply(known);
    state.accounts.set(known.account.email, known);
    const token = randomBytes(24).toString('base64url');
    state.sessions.set(token, known.account.email);
    return { status: 200, body: sessionBody(state, token, known.account) };
  };
  return [
    bind(routes.changePassword, async ({ body, caller }) => {
      if (body.new_password === GUESSABLE_PASSWORD) {
        const msg = 'Value error, this password is too easy to guess';
        throw invalidRequest([{ loc: ['body', 'new_password'], type: 'value_error', msg }]);
      }
      return change(caller.userId, body.current_password, (known) => {
        known.password = body.new_password;
      });
    }),
    bind(routes.changeEmail, async ({ body }) => {
      if (state.accounts.has(body.email)) throw new AppError('email_taken');
      return { status: 202, body: { pending_email: body.email } };
    }),
    bind(routes.requestVerification, async () => ({ status: 202 })),
    bind(routes.requestPasswordReset, async () => ({ status: 202 })),
    bind(routes.confirmPasswordReset, async ({ body }) => {
      accountOfLink(state, body.token).password = body.password;
      return { status: 204 };
    }),
    ...[routes.confirmVerification, routes.confirmEmailChange, routes.undoEmailChange].map((route) =>
      bind(route, async ({ body }) => {
        const { account } = accountOfLink(state, body.token);
        account.email_verified = true;
        return { status: 200, body: { account: accountFor(state, account) } };
      }),
    ),
  ];
};

/** In mails of the mock, an address is the token of its links. */
const accountOfLink = (state: MockState, token: string) => {
  const known = state.accounts.get(token);
  if (known === undefined) throw new AppError('token_invalid');
  return known;
};

const requireApp = (state: MockState, userId: string, clientId: string): App => {
  const app = possessionsOf(state, userId).apps.find((item) => item.client_id === clientId);
  if (app === undefined) throw new AppError('not_found');
  return app;
};

const appBindings = (state: MockState): Binding[] => [
  bind(routes.listApps, async ({ caller }) => ({
    status: 200,
    body: { data: possessionsOf(state, caller.userId).apps },
  })),
  bind(routes.registerApp, async ({ body, caller }) => {
    const issues = body.redirect_uris.flatMap((uri, index) =>
      uri.includes('#')
        ? [
            {
              loc: ['body', 'redirect_uris', index],
              type: 'value_error',
              msg: 'Value error, a redirect URI must have no fragment',
            },
          ]
        : [],
    );
    if (issues.length > 0) throw invalidRequest(issues);
    const clientId = newId('app');
    const now = new Date().toISOString();
    const app: App = {
      client_id: clientId,
      name: body.name,
      description: body.description ?? null,
      client_type: body.client_type,
      redirect_uris: body.redirect_uris,
      homepage_url: body.homepage_url ?? null,
      privacy_policy_url: body.privacy_policy_url ?? null,
      icon_url: `http://localhost/v1/integrations/apps/${clientId}/icon`,
      active: true,
      suspended_at: null,
      refresh_grace_seconds: body.refresh_grace_seconds,
      require_pushed_authorization_requests: body.require_pushed_authorization_requests,
      dpop_bound_access_tokens: body.dpop_bound_access_tokens,
      device_flow: body.device_flow,
      created_at: now,
      updated_at: now,
      secret_rotated_at: body.client_type === 'public' ? null : now,
      connections_count: 0,
    };
    possessionsOf(state, caller.userId).apps.unshift(app);
    return { status: 201, body: app.client_type === 'public' ? app : { ...app, client_secret: newSecret() } };
  }),
  bind(routes.updateApp, async ({ params, body, caller }) => {
    const app = requireApp(state, caller.userId, params.client_id);
    const changes = Object.entries(body).filter(([, value]) => value !== undefined);
    Object.assign(app, Object.fromEntries(changes), { updated_at: new Date().toISOString() });
    if (!body.active) app.connections_count = 0;
    return { status: 200, body: app };
  }),
  bind(routes.deleteApp, async ({ params, caller }) => {
    const app = requireApp(state, caller.userId, params.client_id);
    const owned = possessionsOf(state, caller.userId);
    owned.apps = owned.apps.filter((item) => item !== app);
    return { status: 204 };
  }),
];

const newSecret = (): string => `svc_cs_${randomBytes(32).toString('base64url')}`;

const secretBindings = (state: MockState): Binding[] => [
  bind(routes.rotateAppSecret, async ({ params, body, caller }) => {
    const app = requireApp(state, caller.userId, params.client_id);
    if (app.client_type === 'public') throw new AppError('public_client_has_no_secret');
    const now = Date.now();
    const overlap = body?.overlap_seconds ?? 0;
    app.secret_rotated_at = new Date(now).toISOString();
    const until = overlap === 0 ? null : new Date(now + overlap * 1000).toISOString();
    return {
      status: 200,
      body: {
        client_id: app.client_id,
        client_secret: newSecret(),
        secret_rotated_at: app.secret_rotated_at,
        previous_secret_expires_at: until,
      },
    };
  }),
  bind(routes.getAppIcon, async ({ params }) => {
    const icon = state.icons.get(params.client_id);
    return icon === undefined
      ? { status: 200, body: MONOGRAM, contentType: 'image/svg+xml' }
      : { status: 200, body: icon.bytes, contentType: icon.contentType };
  }),
  bind(routes.putAppIcon, async ({ params, req, caller }) => {
    requireApp(state, caller.userId, params.client_id);
    const bytes = await readBodyBytes(req, ICON_BYTES_MAX);
    if (bytes[0] !== 0x89) throw new AppError('unsupported_media_type');
    state.icons.set(params.client_id, { contentType: 'image/png', bytes });
    return { status: 204 };
  }),
];

const toBudget = (limit: BudgetLimit | null): Connection['budget'] =>
  limit && {
    limit_micros: limit.limit_micros,
    currency: 'EUR',
    period: limit.period,
    used_micros: 412_000,
    resets_at: daysFromNow(3),
    expires_at: limit.expires_at ?? null,
  };

const connectionBindings = (state: MockState): Binding[] => [
  bind(routes.listConnections, async ({ caller }) => ({
    status: 200,
    body: { data: possessionsOf(state, caller.userId).connections },
  })),
  bind(routes.listEndedConnections, async ({ caller }) => ({
    status: 200,
    body: { data: possessionsOf(state, caller.userId).endedConnections },
  })),
  bind(routes.listGrants, async ({ params, caller }) => ({
    status: 200,
    body: { data: possessionsOf(state, caller.userId).grants.get(params.client_id) ?? [] },
  })),
  bind(routes.deleteGrant, async ({ params, caller }) => {
    const { grants } = possessionsOf(state, caller.userId);
    const left = grants.get(params.client_id)?.filter(({ id }) => id !== params.grant_id) ?? [];
    grants.set(params.client_id, left);
    return { status: 204 };
  }),
  bind(routes.listConnectionAudit, async () => ({
    status: 200,
    body: {
      data: [
        {
          id: newId('aud'),
          action: 'connected',
          scope: 'inference usage:read',
          network: '192.0.2.0/24',
          client_kind: 'browser',
          happened_at: daysFromNow(-12),
        },
      ],
      has_more: false,
    },
  })),
  bind(routes.updateConnection, async ({ params, body, caller }) => {
    const owned = possessionsOf(state, caller.userId);
    const found = owned.connections.find((item) => item.client_id === params.client_id);
    if (found === undefined) throw new AppError('not_found');
    const changed: Connection = {
      ...found,
      paused: body.paused ?? found.paused,
      budget: body.budget === undefined ? found.budget : toBudget(body.budget),
    };
    owned.connections = owned.connections.map((item) => (item === found ? changed : item));
    return { status: 200, body: changed };
  }),
  bind(routes.deleteConnection, async ({ params, caller }) => {
    const owned = possessionsOf(state, caller.userId);
    const ended = owned.connections.filter((item) => item.client_id === params.client_id);
    owned.endedConnections.push(
      ...ended.map(({ client_id, app, connected_at, last_used_at }) => ({
        client_id,
        app,
        connected_at,
        last_used_at,
        ended_at: new Date().toISOString(),
      })),
    );
    owned.connections = owned.connections.filter((item) => item.client_id !== params.client_id);
    return { status: 204 };
  }),
];
