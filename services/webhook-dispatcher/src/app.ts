import type { RequestListener } from 'node:http';
import { newId, routes } from '@svc/contracts';
import { isConnectionFailure } from '@svc/database';
import { createPinnedAgent, createSystemLookup, type Lookup, parseAllowTargets } from '@svc/destinations';
import {
  authSource,
  type Consumer,
  inboxRoutes,
  type Messaging,
  openRevocations,
  readAgain,
  restoreRoutes,
  shareHints,
} from '@svc/messaging';
import { openSecretKeys, requireSecretKeys, secretRoutes } from '@svc/secrets';
import {
  type Binding,
  type Clock,
  createClientAuthenticator,
  createInternalApp,
  createInternalClient,
  createServiceApp,
  createTokenAuthenticators,
  type InternalClient,
  type Lifecycle,
  type Logger,
  type Metrics,
  type RevocationView,
  systemClock,
} from '@svc/service-kit';
import type { Knex } from 'knex';
import { analyticsRoutes, startActivityConsumer } from './analytics.ts';
import { auditLogRoutes, startActPruning } from './audit-log.ts';
import { type AuthClient, createAuthClient } from './auth-client.ts';
import { createBillingClient } from './billing-client.ts';
import type { Config } from './config.ts';
import {
  configurationRoutes,
  createDeliveryTargets,
  listConfigurations,
  signingSecretUse,
} from './configurations/index.ts';
import { startWorker } from './deliveries/index.ts';
import { startErasureConsumer, startLaneClearing } from './ended-lanes.ts';
import {
  eventRoutes,
  type LocalWorker,
  laneOperatorRoutes,
  startEventPruning,
  startLaneAlarms,
} from './events/index.ts';
import {
  startConnectionConsumer,
  startDisconnectionConsumer,
  startKeyConsumer,
  startSubscriptionConsumer,
  startWalletConsumer,
} from './facts/index.ts';
import { personalDataRoutes } from './personal-data.ts';
import { createSecretBox, type SecretBox } from './signatures.ts';

/** Dependencies of the application. Tests pass their own. */
export interface AppDeps {
  readonly config: Config;
  readonly database: Knex;
  readonly messaging: Messaging;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly life: Pick<Lifecycle, 'onStop' | 'isStopping'>;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
  readonly lookup?: Lookup | undefined;
}

export interface App {
  readonly publicApp: RequestListener;
  readonly internalApp: RequestListener;
}

const SERVICE = 'webhook-dispatcher';
const INTERNAL_TIMEOUT_MS = 2_000;

/** Wires the slices and starts worker and consumers. `life` stops them, the consumers first. */
export const createApp = async (deps: AppDeps): Promise<App> => {
  const { config, database, messaging, logger, life, clock = systemClock, lookup = createSystemLookup() } = deps;
  const encryptionKeys = openSecretKeys('WEBHOOK_ENCRYPTION_KEY', config.WEBHOOK_ENCRYPTION_KEY);
  const secrets = [signingSecretUse(encryptionKeys)];
  await requireSecretKeys(database, secrets);
  const secretBox = createSecretBox(encryptionKeys);
  const destinations = { lookup, allowTargets: parseAllowTargets(config.WEBHOOK_ALLOW_TARGETS) };
  const worker = openWorker(deps, { ...destinations, clock, secretBox });
  const retentionDays = config.WEBHOOK_EVENT_RETENTION_DAYS;
  const pruning = startEventPruning({ database, clock, logger, retentionDays });
  life.onStop('pruning', pruning.stop);
  life.onStop('audit log', startActPruning({ database, logger }).stop);
  const authClient = openClient(deps, config.AUTH_INTERNAL_URL);
  const auth = createAuthClient(authClient);
  const clearing = startLaneClearing({ database, logger });
  life.onStop('ended lanes', clearing.stop);
  const alarms = startLaneAlarms({ database, logger, mailOwner: auth.mailOwner });
  life.onStop('lane alarms', alarms.stop);
  const billing = createBillingClient(openClient(deps, config.BILLING_INTERNAL_URL));
  const storing = { database, clock, newId, worker };
  const facts = { ...storing, messaging, billing };
  const consumers: readonly Consumer[] = [
    startConnectionConsumer(facts),
    startDisconnectionConsumer(facts),
    startSubscriptionConsumer(facts),
    startActivityConsumer(facts),
    startWalletConsumer(facts),
    startKeyConsumer(facts),
    startErasureConsumer(facts),
  ];
  life.onStop('consumers', async () => {
    await Promise.all(consumers.map((consumer) => consumer.stop()));
  });
  const revocations = await openRevocations(messaging, { sources: [authSource(authClient)] });
  life.onStop('revocations', () => revocations.stop());
  return {
    publicApp: createPublicApp(deps, { revocations, clock, auth, authClient }, [
      ...configurationRoutes({ ...destinations, database, secretBox, clock, auth }),
      ...eventRoutes({ ...storing, auth }),
      ...analyticsRoutes({ database, auth, clock }),
    ]),
    internalApp: createPrivateApp(deps, [
      ...secretRoutes({ service: SERVICE, database, uses: secrets }),
      ...auditLogRoutes({ database }),
      ...laneOperatorRoutes({ database, worker, listUrls: (ownerIds) => listConfigurations(database, ownerIds) }),
      ...personalDataRoutes(
        { url: config.DATABASE_URL, caFile: config.DATABASE_CA_FILE },
        { retentionDays: config.WEBHOOK_EVENT_RETENTION_DAYS },
      ),
      ...inboxRoutes({ service: SERVICE, database, messaging, consumers: () => consumers }),
      ...restoreRoutes({ service: SERVICE, database, readAgain: () => readAgain(messaging, consumers) }),
    ]),
  };
};

interface WorkerParts {
  readonly lookup: Lookup;
  readonly allowTargets: ReturnType<typeof parseAllowTargets>;
  readonly clock: Clock;
  readonly secretBox: SecretBox;
}

/** Starts the worker of this process, which hears the hints of all replicas. */
const openWorker = (deps: AppDeps, { secretBox, ...parts }: WorkerParts): LocalWorker => {
  const { config, database, messaging, logger, metrics, life, random = Math.random } = deps;
  const agent = createPinnedAgent({ extraCaFile: config.WEBHOOK_EXTRA_CA_FILE });
  life.onStop('receiver connections', agent.destroy);
  const targets = createDeliveryTargets(database, secretBox, (ownerId, error) => {
    logger.error({ owner_id: ownerId, err: error }, 'a signing secret cannot be opened');
  });
  const schedule = { baseMs: config.WEBHOOK_BACKOFF_BASE_MS, random };
  const slots = config.WEBHOOK_SLOTS;
  const worker = startWorker({ ...parts, database, targets, agent, schedule, slots, logger, metrics });
  life.onStop('worker', () => worker.stop());
  const hints = shareHints(messaging, { subject: 'lanes_due_hint.webhook-dispatcher', wake: worker.hint });
  life.onStop('hints', hints.stop);
  return { reserve: worker.reserve, hint: hints.hint };
};

const openClient = ({ config, life }: AppDeps, baseUrl: string): InternalClient => {
  const client = createInternalClient({ baseUrl, token: config.INTERNAL_API_TOKEN, timeoutMs: INTERNAL_TIMEOUT_MS });
  life.onStop('internal client', client.close);
  return client;
};

interface PublicParts {
  readonly revocations: RevocationView;
  readonly clock: Clock;
  readonly auth: AuthClient;
  readonly authClient: InternalClient;
}

const createPublicApp = (
  { config, logger, metrics }: AppDeps,
  { revocations, clock, auth, authClient }: PublicParts,
  bindings: readonly Binding[],
): RequestListener => {
  const { console_session } = createTokenAuthenticators({
    publicBaseUrl: config.PUBLIC_BASE_URL,
    jwksUrl: config.JWKS_URL ?? `${config.AUTH_INTERNAL_URL}${routes.getJwks.path}`,
    revocations,
    auth: authClient,
    clock,
    logger,
  });
  return createServiceApp({
    service: SERVICE,
    bindings,
    authenticate: { console_session, client_credentials: createClientAuthenticator(auth.checkSecret) },
    stepUp: { maxAgeSeconds: config.STEP_UP_MAX_AGE_SECONDS, clock },
    logger,
    metrics,
    isUnavailable: isConnectionFailure,
    publicBaseUrl: config.PUBLIC_BASE_URL,
    trustProxyHops: config.TRUST_PROXY_HOPS,
    responseValidation: config.RESPONSE_VALIDATION,
  });
};

const createPrivateApp = (deps: AppDeps, bindings: readonly Binding[]): RequestListener => {
  const { config, database, messaging, logger, metrics, life } = deps;
  return createInternalApp({
    service: SERVICE,
    bindings,
    tokens: config.INTERNAL_API_TOKENS,
    logger,
    metrics,
    isUnavailable: isConnectionFailure,
    responseValidation: config.RESPONSE_VALIDATION,
    lifecycle: life,
    ready: async () => ({
      database: await database.raw('SELECT 1').then(
        () => true,
        () => false,
      ),
      messaging: messaging.isConnected(),
    }),
  });
};
