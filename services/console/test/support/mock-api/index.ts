import { type Account, documentedRoutes, type ErrorCode, newId } from '@svc/contracts';
import { AppError, type Binding, createLogger, createMetrics, createServiceApp } from '@svc/service-kit';
import { accountBindings } from './account.ts';
import { authBindings } from './auth.ts';
import { billingBindings } from './billing.ts';
import { factorBindings } from './factors.ts';
import { gatewayBindings } from './gateway.ts';
import { membershipOf, nameOf, organizationOf } from './organization-state.ts';
import { organizationBindings } from './organizations.ts';
import { publisherBindings } from './publishers.ts';
import { seatBindings } from './seats.ts';
import { type MockState, STEP_UP } from './state.ts';
import { webhookBindings } from './webhooks.ts';

export { GUESSABLE_PASSWORD } from './auth.ts';
export { organizationOf } from './organization-state.ts';
export { newDomain } from './publishers.ts';
export * from './state.ts';
export { addEvent } from './webhooks.ts';

/** Faults that a test can switch on. */
export interface Faults {
  /** Errors by operation id; each is answered once. */
  readonly once: Map<string, AppError>;
  /** Milliseconds by operation id that an answer takes longer. */
  readonly delayMs: Map<string, number>;
}

/** Plans that the next call of an operation fails. */
export const failNext = (faults: Faults, operationId: string, code: ErrorCode, headers = {}): void => {
  faults.once.set(operationId, new AppError(code, undefined, { headers }));
};

export interface MockApiOptions {
  readonly state: MockState;
  readonly faults: Faults;
  /** Operations that this release does not have: 501. */
  readonly without?: readonly string[];
}

/**
 * The whole API in memory. Requests are read and answers are checked by the contract, with the code that the services use,
 * so that a page that works here speaks the contract.
 */
export const createMockApi = ({ state, faults, without = [] }: MockApiOptions) => {
  const bindings = [
    ...authBindings(state),
    ...accountBindings(state),
    ...factorBindings(state),
    ...billingBindings(state),
    ...gatewayBindings(state),
    ...publisherBindings(state),
    ...webhookBindings(state),
    ...organizationBindings(state),
    ...seatBindings(state),
  ];
  return createServiceApp({
    service: 'auth',
    contract: documentedRoutes,
    bindings: bindings
      .filter(({ route }) => !without.includes(route.operationId))
      .map((binding) => misbehave(recorded(binding, state), faults)),
    authenticate: {
      console_session: async (token) => authenticate(state, token),
      session_or_api_key: async (token) => authenticate(state, token),
    },
    stepUp: STEP_UP,
    logger: createLogger({ service: 'mock-api', level: 'fatal' }),
    metrics: createMetrics('mock-api'),
    responseValidation: true,
  });
};

/** The mock has one session per person. */
const SESSION_ID = newId('ses');

const authenticate = (state: MockState, token: string) => {
  const account = state.accounts.get(state.sessions.get(token) ?? '')?.account;
  if (account === undefined) throw new AppError('invalid_token');
  const organization = actingFor(state, token, account);
  return {
    kind: 'console_session' as const,
    userId: account.svc_user_id,
    personId: account.svc_user_id,
    organization,
    sessionId: SESSION_ID,
    accountType: organization === null ? ('personal' as const) : ('business' as const),
    authenticatedAt: state.staleSessions.has(token) ? new Date(0) : new Date(),
    expiresAt: new Date(Date.now() + 3_600_000),
  };
};

/** Returns the organization that a token acts for, with the present role. Refuses the token of a removed member. */
const actingFor = (state: MockState, token: string, { svc_user_id, account_type }: Account) => {
  const id = state.acting.get(token);
  if (id === undefined && account_type === 'personal') return null;
  const organizationId = id ?? svc_user_id;
  const membership = membershipOf(organizationOf(state, organizationId), svc_user_id);
  if (membership === undefined) throw new AppError('invalid_token');
  return { id: organizationId, role: membership.role, membershipId: null, version: 1 };
};

/** Records the act of a request in the organization's audit log, as the services do. */
const recorded = (binding: Binding, state: MockState): Binding => ({
  ...binding,
  handle: async (request) => {
    const reply = await binding.handle(request);
    const { act, body } = request;
    if (act === undefined) return reply;
    act.changedNothing();
    const { actorId, action, source, organizationId } = act;
    if (organizationId !== null && actorId !== null) {
      const actor = { svc_user_id: actorId, name: nameOf(state, actorId) };
      const target = { type: action.split('.', 1)[0] ?? '', id: null, name: namedIn(body) };
      const at = new Date().toISOString();
      organizationOf(state, organizationId).acts.unshift({ id: newId('aud'), at, actor, action, target, source });
    }
    return reply;
  },
});

const namedIn = (body: unknown): string | null => {
  const fields = typeof body === 'object' && body !== null ? Object.entries(body) : [];
  const found = fields.find(([name]) => name === 'email' || name === 'name')?.[1];
  return typeof found === 'string' ? found : null;
};

const misbehave = (binding: Binding, { once, delayMs }: Faults): Binding => ({
  ...binding,
  handle: async (request) => {
    const { operationId } = binding.route;
    const wait = delayMs.get(operationId);
    if (wait !== undefined) await new Promise((resolve) => setTimeout(resolve, wait));
    const error = once.get(operationId);
    once.delete(operationId);
    if (error !== undefined) throw error;
    return binding.handle(request);
  },
});
