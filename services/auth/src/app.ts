import type { RequestListener } from 'node:http';
import { newId } from '@svc/contracts';
import { isConnectionFailure } from '@svc/database';
import { createPinnedAgent } from '@svc/destinations';
import { withOutbox } from '@svc/messaging';
import {
  accessTokenAudience,
  type Binding,
  type Clock,
  createInternalApp,
  createInternalClient,
  createServiceApp,
  type Logger,
  type Metrics,
  type PeriodicWork,
} from '@svc/service-kit';
import type { Knex } from 'knex';
import { accountOperationRoutes } from './account-operations/index.ts';
import { accountRoutes, createPasswordHasher, createPasswordRules, createSignUps } from './accounts/index.ts';
import { appOperatorRoutes, appReportRoutes, countAppsWithOpenReports } from './app-reports/index.ts';
import {
  appInternalRoutes,
  appRoutes,
  countSuspensions,
  createAppFinder,
  findConnectedApps,
  startSuspensions,
} from './apps/index.ts';
import { createBillingClient } from './billing-client.ts';
import { type Config, mailSettings, ssoSettings } from './config.ts';
import { connectionRoutes } from './connections/index.ts';
import {
  consentRoutes,
  createFormTokens,
  createPushedMarks,
  createTypicalUse,
  pageRoutes,
  readBudgetProposal,
  refuseUnknownPushedRequest,
} from './consent/index.ts';
import { consolePageRoutes } from './console-pages/index.ts';
import { credentialRoutes } from './credentials/index.ts';
import { parseEncryptionKey } from './encryption-key.ts';
import { erasureRoutes, startErasures } from './erasure/index.ts';
import { createPasskeyChallenges, factorRoutes, relyingPartyOf } from './factors/index.ts';
import { startHousekeeping } from './housekeeping.ts';
import { createMailTransport, startMailer } from './mail/index.ts';
import { type NoticeDeps, noticeInternalRoutes } from './notices/index.ts';
import { createOauthServer, oidcRoutes, preparePushedRequest } from './oidc/index.ts';
import { openapiRoutes } from './openapi-route.ts';
import { personalDataRoutes } from './personal-data/index.ts';
import { profileRoutes } from './profile/index.ts';
import { type ProveDomain, publisherRoutes, selectProveDomain, startDomainChecks } from './publishers/index.ts';
import { recoveryRoutes, startResets } from './recovery/index.ts';
import { authenticateSession, createDevices, sessionRoutes } from './sessions/index.ts';
import { type KeyRing, openKeyRing, signingKeyOperatorRoutes, signingKeyRoutes } from './signing-keys/index.ts';
import { ssoRoutes } from './sso/index.ts';
import { createAttemptThrottle, createSourceLimit } from './throttling/index.ts';
import { DAY_MS, SECOND_MS } from './time.ts';
import type { Transact } from './transact.ts';

const SERVICE = 'auth';
/** The worker's module is next to this one, both in the source tree and in a bundle. */
const WORKER_FILE = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url).href;
/** Requests for a new password from one source. Each address gets few mails, so this only bounds the work. */
const RESETS_PER_HOUR_MAX = 1_000;

/** Parts from which the application is assembled. Tests replace some of them. */
export interface AppDeps {
  readonly config: Config;
  readonly database: Knex;
  /** Relay of the outbox, woken after each commit. */
  readonly relay: { readonly hint: () => void };
  /** Operator routes over the outbox. */
  readonly operatorBindings: readonly Binding[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Default: the method set by PUBLISHER_PROOFS. */
  readonly proveDomain?: ProveDomain;
  readonly lifecycle?: { readonly isStopping: boolean };
}

export interface App {
  readonly publicApp: RequestListener;
  readonly internalApp: RequestListener;
  readonly keys: KeyRing;
  /** Dependencies of the consumer of notices. */
  readonly notices: Omit<NoticeDeps, 'messaging'>;
  /** Stops the background work. */
  readonly stop: () => Promise<void>;
}

/** Creates the application and starts its background work. Creates the first signing keys if there are none. */
export const createApp = async (parts: AppDeps): Promise<App> => {
  const deps = await createSliceDeps(parts);
  const suspensions = startSuspensions(deps);
  const housekeeping = startHousekeeping(deps);
  const domainChecks = startDomainChecks(deps);
  const resets = startResets(deps);
  const erasures = startErasures(deps, suspensions.wake);
  const wakeErasure = (): void => {
    suspensions.wake();
    erasures.wake();
  };
  const mailer = startMailer({ ...deps, metrics: parts.metrics });
  parts.metrics.gauge({
    name: 'auth_suspensions_waiting',
    help: 'Suspended or deleted apps whose connections are still to be ended.',
    // A scrape must not fail with the database.
    read: () => countSuspensions(deps.database).catch(() => Number.NaN),
  });
  parts.metrics.gauge({
    name: 'auth_reported_apps_waiting',
    help: 'Apps with reports that no operator has closed.',
    read: () => countAppsWithOpenReports(deps.database).catch(() => Number.NaN),
  });
  return {
    publicApp: createPublicApp(parts, { ...deps, wakeErasure }, { suspensions, resets }),
    internalApp: createInternal(parts, [
      ...appInternalRoutes(deps),
      ...noticeInternalRoutes(deps),
      ...signingKeyOperatorRoutes({ ...deps, ...deps.keyRotation }),
      ...accountOperationRoutes({ ...deps, wakeErasure }),
      ...appOperatorRoutes({ ...deps, wakeSuspensions: suspensions.wake }),
      ...parts.operatorBindings,
    ]),
    keys: deps.keys,
    notices: deps,
    stop: async () => {
      deps.destinations.destroy();
      await Promise.all([
        deps.keys.stop(),
        suspensions.stop(),
        housekeeping.stop(),
        domainChecks.stop(),
        resets.stop(),
        erasures.stop(),
        mailer.stop(),
        deps.billing.close(),
        ...Object.values(deps.holders).map((client) => client.close()),
        deps.passwordRules.close(),
      ]);
    },
  };
};

const createPublicApp = (
  { config, metrics }: AppDeps,
  deps: SliceDeps & { readonly wakeErasure: () => void },
  { suspensions, resets }: Readonly<Record<'suspensions' | 'resets', PeriodicWork>>,
): RequestListener => {
  const server = createOauthServer(deps);
  return createServiceApp({
    service: SERVICE,
    bindings: [
      ...accountRoutes(deps),
      ...sessionRoutes(deps),
      ...credentialRoutes(deps),
      ...factorRoutes(deps),
      ...profileRoutes(deps),
      ...erasureRoutes(deps),
      ...personalDataRoutes(deps),
      ...recoveryRoutes({ ...deps, wakeResets: resets.wake }),
      ...ssoRoutes(deps),
      ...appRoutes({ ...deps, wakeSuspensions: suspensions.wake }),
      ...appReportRoutes(deps),
      ...publisherRoutes(deps),
      ...connectionRoutes({ ...deps, findConnectedApps: (clientIds) => findConnectedApps(deps, clientIds) }),
      ...consentRoutes(deps),
      ...pageRoutes(deps),
      ...consolePageRoutes(deps),
      ...oidcRoutes({ server, issuer: deps.issuer }),
      ...signingKeyRoutes(deps),
      ...openapiRoutes(),
    ],
    authenticate: { console_session: (token) => authenticateSession(deps, token) },
    stepUp: deps.stepUp,
    logger: deps.logger,
    metrics,
    publicBaseUrl: deps.publicBaseUrl,
    trustProxyHops: config.TRUST_PROXY_HOPS,
    responseValidation: config.RESPONSE_VALIDATION,
    isUnavailable: isConnectionFailure,
    prepare: preparePushedRequest({ ...deps, refuse: refuseUnknownPushedRequest }),
  });
};

/** Creates a client of a service that holds personal data. Only exports use it, so it may wait longer than a page. */
const holderClient = (config: Config, baseUrl: string) =>
  createInternalClient({ baseUrl, token: config.INTERNAL_API_TOKEN, timeoutMs: 10 * SECOND_MS });

const createInternal = (parts: AppDeps, bindings: readonly Binding[]): RequestListener => {
  const { config, database, logger, metrics, lifecycle } = parts;
  return createInternalApp({
    service: SERVICE,
    bindings,
    tokens: config.INTERNAL_API_TOKENS,
    logger,
    metrics,
    isUnavailable: isConnectionFailure,
    // Checks the database only: without NATS the service works, and its facts wait in the outbox.
    ready: async () => ({
      database: await database.raw('SELECT 1').then(
        () => true,
        () => false,
      ),
    }),
    ...(lifecycle === undefined ? {} : { lifecycle }),
  });
};

type SliceDeps = Awaited<ReturnType<typeof createSliceDeps>>;

const createSliceDeps = async (parts: AppDeps) => {
  const { config, database, relay, clock, logger, metrics } = parts;
  const publicBaseUrl = config.PUBLIC_BASE_URL;
  const transact: Transact = (work) => withOutbox({ database, relay }, work);
  const encryptionKey = parseEncryptionKey(config.AUTH_ENCRYPTION_KEY);
  const keyRotation = {
    sealingKey: encryptionKey.derive('signing-keys'),
    rotationDays: config.SIGNING_KEY_ROTATION_DAYS,
  };
  const billing = createBillingClient({ baseUrl: config.BILLING_INTERNAL_URL, token: config.INTERNAL_API_TOKEN });
  const destinations = createPinnedAgent();
  const keys = await openKeyRing({ database, transact, clock, logger, ...keyRotation });
  return {
    database,
    transact,
    clock,
    logger,
    keys,
    keyRotation,
    publicBaseUrl,
    stepUp: { maxAgeSeconds: config.STEP_UP_MAX_AGE_SECONDS, clock },
    newId,
    issuer: publicBaseUrl,
    currency: config.BILLING_CURRENCY,
    areDetailsReadable: (text: string | undefined) => readBudgetProposal(text, config.BILLING_CURRENCY) !== 'malformed',
    billing,
    findTypicalUse: createTypicalUse({ billing, clock }),
    exportDatabase: { url: config.DATABASE_URL, caFile: config.DATABASE_CA_FILE },
    holders: {
      billing: holderClient(config, config.BILLING_INTERNAL_URL),
      gateway: holderClient(config, config.INFERENCE_GATEWAY_INTERNAL_URL),
      dispatcher: holderClient(config, config.WEBHOOK_DISPATCHER_INTERNAL_URL),
    },
    resource: accessTokenAudience(publicBaseUrl),
    findApp: createAppFinder(database),
    destinations,
    proveDomain: parts.proveDomain ?? selectProveDomain(config.PUBLISHER_PROOFS, destinations),
    passwordRules: createPasswordRules({ workerFile: WORKER_FILE, logger }),
    passwords: await createPasswordHasher(config.PASSWORD_HASH_CONCURRENCY),
    throttle: createAttemptThrottle({ transact, clock }),
    signUps: await createSignUps(
      createSourceLimit({
        database,
        transact,
        clock,
        purpose: 'sign-up',
        perHour: config.SIGN_UPS_PER_SOURCE_PER_HOUR,
      }),
    ),
    erasureDelayMs: config.ERASURE_DELAY_DAYS * DAY_MS,
    sessionIdleMs: config.SESSION_IDLE_SECONDS * SECOND_MS,
    resetLimit: createSourceLimit({
      database,
      transact,
      clock,
      purpose: 'password-reset',
      perHour: RESETS_PER_HOUR_MAX,
    }),
    isVerificationRequired: config.EMAIL_VERIFICATION === 'required',
    devices: createDevices(encryptionKey.derive('devices')),
    reuses: metrics.counter({
      name: 'auth_grants_ended_by_reuse_total',
      help: 'Grants ended because a code or refresh token was presented again.',
    }),
    mailKey: encryptionKey.derive('mails'),
    totpKey: encryptionKey.derive('totp-secrets'),
    passkeyChallenges: createPasskeyChallenges(encryptionKey.derive('passkey-challenges'), clock),
    relyingParty: relyingPartyOf(publicBaseUrl),
    transport: createMailTransport(mailSettings(config)),
    formTokens: createFormTokens(encryptionKey.derive('authorize-forms'), clock),
    pushedMarks: createPushedMarks(encryptionKey.derive('pushed-marks')),
    sso: ssoSettings(config),
    ssoCookieKey: encryptionKey.derive('sso-attempts'),
    decisionKey: encryptionKey.derive('decision-codes'),
  };
};
