import { newId } from '@svc/contracts';
import { createPinnedAgent, createSystemLookup, type PinnedAgent, parseAllowTargets } from '@svc/destinations';
import { withOutbox } from '@svc/messaging';
import { openSecretKeys, requireSecretKeys } from '@svc/secrets';
import { accessTokenAudience, type Clock, createInternalClient } from '@svc/service-kit';
import { createPasswordHasher, createPasswordRules, createSignUps } from './accounts/index.ts';
import type { AppDeps } from './app.ts';
import { createAppFinder } from './apps/index.ts';
import { createBillingClient } from './billing-client.ts';
import { createClientDocuments, createFetchDocument, withDocuments } from './client-documents/index.ts';
import { type Config, mailSettings, ssoSettings } from './config.ts';
import { createTermsTurns } from './connections/index.ts';
import {
  askedQuerySchema,
  createFormTokens,
  createPushedMarks,
  createTypicalUse,
  readBudgetProposal,
} from './consent/index.ts';
import { createReadOffer } from './console-pages/index.ts';
import { askedDeviceSchema } from './device-pages/index.ts';
import { createPasskeyChallenges, relyingPartyOf } from './factors/index.ts';
import { createMailTransport } from './mail/index.ts';
import { endActingWithoutFactor } from './members/index.ts';
import { createKeyNames } from './notices/index.ts';
import { selectProveDomain } from './publishers/index.ts';
import { createDevices } from './sessions/index.ts';
import { openKeyRing } from './signing-keys/index.ts';
import { openSecrets } from './stored-secrets.ts';
import { createAttemptThrottle, createGuessLimit, createSourceLimit } from './throttling/index.ts';
import { DAY_MS, SECOND_MS } from './time.ts';
import type { Transact } from './transact.ts';

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
