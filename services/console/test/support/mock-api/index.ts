import { documentedRoutes, type ErrorCode, newId } from '@svc/contracts';
import { AppError, type Binding, createLogger, createMetrics, createServiceApp } from '@svc/service-kit';
import { accountBindings } from './account.ts';
import { authBindings } from './auth.ts';
import { billingBindings } from './billing.ts';
import { factorBindings } from './factors.ts';
import { gatewayBindings } from './gateway.ts';
import { publisherBindings } from './publishers.ts';
import { type MockState, STEP_UP } from './state.ts';
import { webhookBindings } from './webhooks.ts';

export { GUESSABLE_PASSWORD } from './auth.ts';
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
  ];
  return createServiceApp({
    service: 'auth',
    contract: documentedRoutes,
    bindings: bindings
      .filter(({ route }) => !without.includes(route.operationId))
      .map((binding) => misbehave(binding, faults)),
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
  return {
    kind: 'console_session' as const,
    userId: account.svc_user_id,
    sessionId: SESSION_ID,
    accountType: account.account_type,
    authenticatedAt: state.staleSessions.has(token) ? new Date(0) : new Date(),
    expiresAt: new Date(Date.now() + 3_600_000),
  };
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
