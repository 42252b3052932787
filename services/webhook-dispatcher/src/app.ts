import type { RequestListener } from 'node:http';
import { newId, routes } from '@svc/contracts';
import { isConnectionFailure } from '@svc/database';
import { inboxRoutes, type Messaging, openRevocations } from '@svc/messaging';
import {
  type Binding,
  createInternalApp,
  createInternalClient,
  createServiceApp,
  createTokenAuthenticators,
  type InternalClient,
  type Lifecycle,
  type Logger,
  type Metrics,
  type RevocationView,
} from '@svc/service-kit';
import type { Knex } from 'knex';
import { createAuthClient } from './auth-client.ts';
import { createBillingClient } from './billing-client.ts';
import type { Config } from './config.ts';
import { configurationOperatorRoutes, configurationRoutes, createDeliveryTargets } from './configurations/index.ts';
import { shareHints, startWorker, type Worker } from './deliveries/index.ts';
import { createPinnedAgent, createSystemLookup, type Lookup, parseAllowTargets } from './destinations/index.ts';
import { eventRoutes, laneOperatorRoutes, startEventPruning } from './events/index.ts';
import { startFactConsumers } from './facts/index.ts';
import { createSecretBox, parseEncryptionKeys } from './signatures/index.ts';

/** What the application stands on; a test brings its own. */
export interface AppParts {
  readonly config: Config;
  readonly database: Knex;
  readonly messaging: Messaging;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly life: Pick<Lifecycle, 'onStop' | 'isStopping'>;
  readonly clock?: () => Date;
  readonly random?: () => number;
  readonly lookup?: Lookup;
}

/** The two applications, and the worker behind them. */
export interface App {
  readonly publicApp: RequestListener;
  readonly internalApp: RequestListener;
  readonly worker: Worker;
}

const SERVICE = 'webhook-dispatcher';
const INTERNAL_TIMEOUT_MS = 2_000;

/** Wires the service together and starts its worker and consumers; `life` stops them, the consumers first. */
export const createApp = async (parts: AppParts): Promise<App> => {
  const { config, database, messaging, logger, metrics, life } = parts;
  const clock = parts.clock ?? (() => new Date());
  const lookup = parts.lookup ?? createSystemLookup();
  const allowTargets = parseAllowTargets(config.WEBHOOK_ALLOW_TARGETS);
  const secretBox = createSecretBox(parseEncryptionKeys(config.WEBHOOK_ENCRYPTION_KEY));
  const agent = createPinnedAgent({ extraCaFile: config.WEBHOOK_EXTRA_CA_FILE });
  life.onStop('receiver connections', agent.destroy);
  const targets = createDeliveryTargets(database, secretBox, (clientId, error) => {
    logger.error({ client_id: clientId, err: error }, 'a signing secret cannot be opened');
  });
  const worker = startWorker({
    ...{ database, targets, agent, lookup, allowTargets, clock, logger, metrics },
    slots: config.WEBHOOK_SLOTS,
    schedule: { baseMs: config.WEBHOOK_BACKOFF_BASE_MS, random: parts.random ?? Math.random },
  });
  life.onStop('worker', () => worker.stop());
  const hints = shareHints(messaging, worker.hint);
  life.onStop('hints', async () => hints.stop());
  const pruning = startEventPruning({ database, clock, logger, retentionDays: config.WEBHOOK_EVENT_RETENTION_DAYS });
  life.onStop('pruning', pruning.stop);
  const clients = createClients(config, life);
  const stored = { clock, newId, worker: { reserve: worker.reserve, hint: hints.hint } };
  const consumers = startFactConsumers({
    ...{ ...stored, database, messaging, readSnapshots: clients.billing.readSnapshots },
  });
  life.onStop('consumers', async () => {
    await Promise.all(consumers.map((consumer) => consumer.stop()));
  });
  const revocations = await openRevocations(messaging);
  life.onStop('revocations', () => revocations.stop());
  const bindings = [
    ...configurationRoutes({ database, secretBox, lookup, allowTargets, clock, auth: clients.auth }),
    ...eventRoutes({ ...stored, database, auth: clients.auth }),
  ];
  const operatorBindings = [
    ...configurationOperatorRoutes({ database, secretBox }),
    ...laneOperatorRoutes({ database }),
    ...inboxRoutes({ service: SERVICE, database, messaging, consumers: () => consumers }),
  ];
  return { worker, ...createApplications(parts, { bindings, operatorBindings, revocations, clock }) };
};

const createClients = (config: Config, life: AppParts['life']) => {
  const token = config.INTERNAL_API_TOKEN;
  const client = (baseUrl: string): InternalClient => {
    const made = createInternalClient({ baseUrl, token, timeoutMs: INTERNAL_TIMEOUT_MS });
    life.onStop('internal client', made.close);
    return made;
  };
  return {
    auth: createAuthClient(client(config.AUTH_INTERNAL_URL)),
    billing: createBillingClient(client(config.BILLING_INTERNAL_URL)),
  };
};

interface ApplicationsInput {
  readonly bindings: readonly Binding[];
  readonly operatorBindings: readonly Binding[];
  readonly revocations: RevocationView;
  readonly clock: () => Date;
}

const createApplications = (
  { config, database, messaging, logger, metrics, life }: AppParts,
  input: ApplicationsInput,
) => {
  const shared = {
    service: SERVICE,
    ...{ logger, metrics, isUnavailable: isConnectionFailure },
    responseValidation: config.RESPONSE_VALIDATION,
  } as const;
  const { console_session } = createTokenAuthenticators({
    publicBaseUrl: config.PUBLIC_BASE_URL,
    jwksUrl: config.JWKS_URL ?? `${config.AUTH_INTERNAL_URL}${routes.getJwks.path}`,
    revocations: input.revocations,
    clock: input.clock,
    logger,
  });
  const publicApp = createServiceApp({
    ...shared,
    bindings: input.bindings,
    authenticate: { console_session },
    publicBaseUrl: config.PUBLIC_BASE_URL,
    trustProxyHops: config.TRUST_PROXY_HOPS,
  });
  const internalApp = createInternalApp({
    ...shared,
    bindings: input.operatorBindings,
    tokens: config.INTERNAL_API_TOKENS,
    lifecycle: life,
    ready: async () => ({
      database: await database.raw('SELECT 1').then(
        () => true,
        () => false,
      ),
      messaging: messaging.isConnected(),
    }),
  });
  return { publicApp, internalApp };
};
