import { newId } from '@svc/contracts';
import { createPinnedAgent, createSystemLookup, type PinnedAgent, parseAllowTargets } from '@svc/destinations';
import { withOutbox } from '@svc/messaging';
import {
  createMacs,
  createSealer,
  type KeyedColumn,
  openSecretKeys,
  requireSecretKeys,
  type SecretKeys,
  type SecretUse,
} from '@svc/secrets';
import {
  accessTokenAudience,
  type Binding,
  type Clock,
  createInternalClient,
  type Logger,
  type Metrics,
} from '@svc/service-kit';
import type { Knex } from 'knex';
import { createPasswordHasher, createPasswordRules, createSignUps } from './accounts/index.ts';
import { createAppFinder, createClientDocuments, createFetchDocument, withDocuments } from './apps/index.ts';
import { createBillingClient } from './billing-client.ts';
import type { Config } from './config.ts';
import { createTermsTurns } from './connections/index.ts';
import {
  askedDeviceSchema,
  askedQuerySchema,
  createPushedMarks,
  createTypicalUse,
  readBudgetProposal,
} from './consent/index.ts';
import { CHALLENGE_MAC_BYTES, createPasskeyChallenges, relyingPartyOf } from './factors/index.ts';
import { createMailTransport, type MailTransportOptions } from './mail/index.ts';
import { createKeyNames } from './notices.ts';
import { endActingWithoutFactor } from './organizations/index.ts';
import { createFormTokens, createReadOffer } from './pages/index.ts';
import { type ProveDomain, selectProveDomain } from './publishers/index.ts';
import { createDevices, DEVICE_PROOF_BYTES } from './sessions/index.ts';
import { openKeyRing } from './signing-keys.ts';
import type { SsoSettings } from './sso/index.ts';
import { createAttemptThrottle, createGuessLimit, createSourceLimit } from './throttling.ts';
import { DAY_MS, SECOND_MS } from './time.ts';
import type { Transact } from './transact.ts';

/** Opens everything that AUTH_ENCRYPTION_KEY encrypts or signs, each with a derived key. */
export const openSecrets = (keys: SecretKeys) => {
  const signingKeySealer = createSealer(keys, 'signing-keys');
  const mailSealer = createSealer(keys, 'mails');
  const totpSealer = createSealer(keys, 'totp-secrets');
  const secretUse: SecretUse = {
    keys,
    columns: [
      columnOf({ table: 'signing_keys', column: 'sealed_private_key', id: 'kid' }, signingKeySealer.renew),
      columnOf({ table: 'totp_factors', column: 'sealed_secret' }, totpSealer.renew),
      columnOf({ table: 'mails', column: 'sealed_data' }, mailSealer.renew),
      columnOf({ table: 'password_reset_requests', column: 'sealed_request', idType: 'uuid' }, mailSealer.renew),
    ],
  };
  return {
    secretUse,
    signingKeySealer,
    mailSealer,
    totpSealer,
    ssoCookieSealer: createSealer(keys, 'sso-attempts'),
    deviceMacs: createMacs(keys, 'devices', DEVICE_PROOF_BYTES),
    challengeMacs: createMacs(keys, 'passkey-challenges', CHALLENGE_MAC_BYTES),
    formMacs: createMacs(keys, 'authorize-forms'),
    deviceFormMacs: createMacs(keys, 'device-forms'),
    pushedMarkMacs: createMacs(keys, 'pushed-marks'),
    decisionMacs: createMacs(keys, 'decision-codes'),
  };
};

/** Every value is sealed with the id of its row as the context. */
const columnOf = (
  place: Pick<KeyedColumn, 'table' | 'column'> & Partial<Pick<KeyedColumn, 'id' | 'idType'>>,
  renew: (value: Buffer, context: string) => Buffer,
): KeyedColumn => {
  const { id = 'id' } = place;
  return { idType: 'text', ...place, id, renew: (value, row) => renew(value, String(row[id])) };
};

/** The worker's module is next to this one, both in the source tree and in a bundle. */
const WORKER_FILE = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url).href;
/** Requests for a new password from one source. Each address gets few mails, so this only bounds the work. */
const RESETS_PER_HOUR_MAX = 1_000;
/** Fetches of metadata documents that one source causes. A document is fetched once an hour, regardless of its users. */
const DOCUMENTS_PER_HOUR_MAX = 300;

/** Invitations of one organization: a company enters its people in an afternoon. */
const INVITATIONS_PER_HOUR_MAX = 50;

/** Creates a client of a service that holds personal data. Only exports use it, so it may wait longer than a page. */
const holderClient = (config: Config, baseUrl: string) =>
  createInternalClient({ baseUrl, token: config.INTERNAL_API_TOKEN, timeoutMs: 10 * SECOND_MS });

const createHolders = (config: Config) => ({
  billing: holderClient(config, config.BILLING_INTERNAL_URL),
  gateway: holderClient(config, config.INFERENCE_GATEWAY_INTERNAL_URL),
  dispatcher: holderClient(config, config.WEBHOOK_DISPATCHER_INTERNAL_URL),
});

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

/** Parts that slices share. */
export type SliceDeps = Awaited<ReturnType<typeof createSliceDeps>>;

/** Creates the parts that slices share. Creates the first signing keys if there are none. */
export const createSliceDeps = async (parts: AppDeps) => {
  const { config, database, relay, clock, logger, metrics } = parts;
  const publicBaseUrl = config.PUBLIC_BASE_URL;
  const transact: Transact = (work) => withOutbox({ database, relay }, work);
  const secrets = openSecrets(openSecretKeys('AUTH_ENCRYPTION_KEY', config.AUTH_ENCRYPTION_KEY));
  await requireSecretKeys(database, [secrets.secretUse]);
  const keyRotation = { sealer: secrets.signingKeySealer, rotationDays: config.SIGNING_KEY_ROTATION_DAYS };
  const billing = createBillingClient({ baseUrl: config.BILLING_INTERNAL_URL, token: config.INTERNAL_API_TOKEN });
  const holders = createHolders(config);
  const destinations = createPinnedAgent({ extraCaFile: config.WEBHOOK_EXTRA_CA_FILE });
  const documents = createDocuments(config, { database, transact, clock, logger, destinations });
  const keys = await openKeyRing({ database, transact, clock, logger, ...keyRotation });
  const findKnownApp = createAppFinder(database);
  const attempts = { database, transact, clock };
  return {
    ...secrets,
    ...keyedDeps(secrets, clock),
    database,
    transact,
    clock,
    logger,
    keys,
    keyRotation,
    publicBaseUrl,
    publication: { termsUrl: config.TERMS_URL, privacyUrl: config.PRIVACY_URL },
    stepUp: { maxAgeSeconds: config.STEP_UP_MAX_AGE_SECONDS, clock },
    newId,
    issuer: publicBaseUrl,
    currency: config.BILLING_CURRENCY,
    areDetailsReadable: (text: string | undefined) =>
      readBudgetProposal(text, { currency: config.BILLING_CURRENCY, clock }) !== 'malformed',
    billing,
    termsTurns: createTermsTurns(),
    findTypicalUse: createTypicalUse({ billing, clock }),
    exportDatabase: { url: config.DATABASE_URL, caFile: config.DATABASE_CA_FILE },
    findKeyName: createKeyNames({ baseUrl: config.INFERENCE_GATEWAY_INTERNAL_URL, token: config.INTERNAL_API_TOKEN }),
    holders,
    readOffer: createReadOffer({ ...holders, clock }),
    resource: accessTokenAudience(publicBaseUrl),
    documents,
    findKnownApp,
    findApp: withDocuments(findKnownApp, documents),
    destinations,
    proveDomain: parts.proveDomain ?? selectProveDomain(config.PUBLISHER_PROOFS, destinations),
    passwordRules: createPasswordRules({ workerFile: WORKER_FILE, logger }),
    passwords: await createPasswordHasher(config.PASSWORD_HASH_CONCURRENCY),
    throttle: createAttemptThrottle({ transact, clock }),
    signUps: await createSignUps(
      createSourceLimit({ ...attempts, purpose: 'sign-up', perHour: config.SIGN_UPS_PER_SOURCE_PER_HOUR }),
    ),
    erasureDelayMs: config.ERASURE_DELAY_DAYS * DAY_MS,
    sessionIdleMs: config.SESSION_IDLE_SECONDS * SECOND_MS,
    resetLimit: createSourceLimit({ ...attempts, purpose: 'password-reset', perHour: RESETS_PER_HOUR_MAX }),
    isVerificationRequired: config.EMAIL_VERIFICATION === 'required',
    reuses: metrics.counter({
      name: 'auth_grants_ended_by_reuse_total',
      help: 'Grants ended because a code or refresh token was presented again.',
    }),
    relyingParty: relyingPartyOf(publicBaseUrl),
    transport: createMailTransport(mailSettings(config)),
    guessLimit: createGuessLimit({ transact, clock }),
    endActingWithoutFactor,
    invitationLimit: createSourceLimit({ ...attempts, purpose: 'invitation', perHour: INVITATIONS_PER_HOUR_MAX }),
    sso: ssoSettings(config),
  };
};

/** Creates the parts that sign what comes back. */
const keyedDeps = (secrets: ReturnType<typeof openSecrets>, clock: Clock) => ({
  passkeyChallenges: createPasskeyChallenges(secrets.challengeMacs, clock),
  formTokens: createFormTokens(secrets.formMacs, clock, askedQuerySchema),
  deviceFormTokens: createFormTokens(secrets.deviceFormMacs, clock, askedDeviceSchema),
  pushedMarks: createPushedMarks(secrets.pushedMarkMacs),
  devices: createDevices(secrets.deviceMacs),
});

/** Creates the lookup of clients that no business registered. */
const createDocuments = (
  config: Config,
  {
    destinations: agent,
    ...deps
  }: Pick<AppDeps, 'database' | 'clock' | 'logger'> & { transact: Transact; destinations: PinnedAgent },
) => {
  const allowTargets = parseAllowTargets(config.WEBHOOK_ALLOW_TARGETS);
  const fetchDocument = createFetchDocument({ agent, lookup: createSystemLookup(), allowTargets });
  const fetchLimit = createSourceLimit({ ...deps, purpose: 'client-document', perHour: DOCUMENTS_PER_HOUR_MAX });
  return createClientDocuments({ ...deps, fetchDocument, fetchLimit, isEnabled: config.CLIENT_ID_METADATA === 'on' });
};

/** Returns the settings of single sign-on, if it is configured. */
const ssoSettings = (config: Config): SsoSettings | undefined => {
  const { SSO_ISSUER: issuer, SSO_CLIENT_ID: clientId, SSO_CLIENT_SECRET: clientSecret } = config;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  return { issuer, clientId, clientSecret, name: config.SSO_NAME };
};

/** Returns the settings of the mail transport. */
const mailSettings = (config: Config): MailTransportOptions => {
  const { hostname: host } = new URL(config.PUBLIC_BASE_URL);
  return { url: config.MAIL_URL, from: config.MAIL_FROM ?? `svc <no-reply@${host}>`, host };
};
