import type { RequestListener } from 'node:http';
import { newId } from '@svc/contracts';
import { isConnectionFailure } from '@svc/database';
import { accessTokenAudience, type Binding, createServiceApp, type Logger, type Metrics } from '@svc/service-kit';
import type { Knex } from 'knex';
import { accountRoutes, createPasswordHasher, createSignUps } from './accounts/index.ts';
import {
  appInternalRoutes,
  appRoutes,
  countSuspensions,
  createAppFinder,
  findConnectedApps,
  startSuspensions,
} from './apps/index.ts';
import type { Clock } from './clock.ts';
import { type Config, ssoSettings } from './config.ts';
import { connectionRoutes } from './connections/index.ts';
import {
  consentRoutes,
  createFormTokens,
  createPushedMarks,
  pageRoutes,
  refuseUnknownPushedRequest,
} from './consent/index.ts';
import { credentialRoutes } from './credentials/index.ts';
import { parseEncryptionKey } from './encryption-key.ts';
import { startHousekeeping } from './housekeeping.ts';
import { createOauthServer, mountPreflight, oidcRoutes, preparePushedRequest } from './oidc/index.ts';
import { openapiRoutes } from './openapi-route.ts';
import { authenticateSession, createDevices, sessionRoutes } from './sessions/index.ts';
import { type KeyRing, openKeyRing, signingKeyOperatorRoutes, signingKeyRoutes } from './signing-keys/index.ts';
import { ssoRoutes } from './sso/index.ts';
import { createAttemptThrottle, createSignUpLimit } from './throttling/index.ts';
import { createTransact } from './transact.ts';

/** What the application is made of; tests pass other parts. */
export interface ApplicationParts {
  config: Config;
  database: Knex;
  /** Wakes the relay of the outbox. */
  hint: () => void;
  clock: Clock;
  logger: Logger;
  metrics: Metrics;
}

/** The application and its work in the background. */
export interface Application {
  public: RequestListener;
  internalBindings: Binding[];
  keys: KeyRing;
  stop: () => Promise<void>;
}

/** Wires the slices. Makes the first signing keys where there are none. */
export const createApplication = async (parts: ApplicationParts): Promise<Application> => {
  const deps = await createDeps(parts);
  const suspensions = startSuspensions(deps);
  const housekeeping = startHousekeeping(deps);
  const server = createOauthServer(deps);
  parts.metrics.gauge({
    name: 'auth_suspensions_waiting',
    help: 'Suspended or deleted apps whose connections are still to be ended.',
    // A scrape must not fail with the database.
    read: () => countSuspensions(deps.database).catch(() => Number.NaN),
  });
  const bindings = [
    ...accountRoutes(deps),
    ...sessionRoutes(deps),
    ...credentialRoutes(deps),
    ...ssoRoutes(deps),
    ...appRoutes({ ...deps, wakeSuspensions: suspensions.wake }),
    ...connectionRoutes({ ...deps, findConnectedApps: (clientIds) => findConnectedApps(deps, clientIds) }),
    ...consentRoutes(deps),
    ...pageRoutes(deps),
    ...oidcRoutes({ server, issuer: deps.issuer }),
    ...signingKeyRoutes(deps),
    ...openapiRoutes(),
  ];
  const app = createServiceApp({
    service: 'auth',
    bindings,
    authenticate: { console_session: (token) => authenticateSession(deps, token) },
    logger: deps.logger,
    metrics: parts.metrics,
    publicBaseUrl: deps.publicBaseUrl,
    trustProxyHops: parts.config.TRUST_PROXY_HOPS,
    responseValidation: parts.config.RESPONSE_VALIDATION,
    isUnavailable: isConnectionFailure,
    mount: (express) => mountPreflight(express, server),
    prepare: preparePushedRequest({ ...deps, refuse: refuseUnknownPushedRequest }),
  });
  return {
    public: app,
    internalBindings: [...appInternalRoutes(deps), ...signingKeyOperatorRoutes({ ...deps, ...deps.keyRotation })],
    keys: deps.keys,
    stop: async () => {
      await Promise.all([deps.keys.stop(), suspensions.stop(), housekeeping.stop()]);
    },
  };
};

const createDeps = async ({ config, database, hint, clock, logger, metrics }: ApplicationParts) => {
  const publicBaseUrl = config.PUBLIC_BASE_URL;
  const transact = createTransact(database, hint);
  const encryptionKey = parseEncryptionKey(config.AUTH_ENCRYPTION_KEY);
  const keyRotation = {
    sealingKey: encryptionKey.derive('signing-keys'),
    rotationDays: config.SIGNING_KEY_ROTATION_DAYS,
  };
  const keys = await openKeyRing({ ...{ database, transact, clock, logger }, ...keyRotation });
  return {
    ...{ database, transact, clock, logger, keys, keyRotation, publicBaseUrl, newId },
    issuer: publicBaseUrl,
    resource: accessTokenAudience(publicBaseUrl),
    findApp: createAppFinder(database),
    passwords: await createPasswordHasher(config.PASSWORD_HASH_CONCURRENCY),
    throttle: createAttemptThrottle({ transact, clock }),
    signUps: await createSignUps(
      createSignUpLimit({ database, transact, clock, signUpsPerHour: config.SIGN_UPS_PER_SOURCE_PER_HOUR }),
    ),
    devices: createDevices(encryptionKey.derive('devices')),
    reuses: metrics.counter({
      name: 'auth_grants_ended_by_reuse_total',
      help: 'Grants ended because a code or refresh token was presented again.',
    }),
    formTokens: createFormTokens(encryptionKey.derive('authorize-forms'), clock),
    pushedMarks: createPushedMarks(encryptionKey.derive('pushed-marks')),
    sso: ssoSettings(config),
    ssoCookieKey: encryptionKey.derive('sso-attempts'),
    decisionKey: encryptionKey.derive('decision-codes'),
  };
};
