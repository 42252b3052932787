import { callersOf, type ServiceName, serviceNames } from '@svc/contracts';
import { apiTokenOf, digestOf, type Secrets, variablePrefix } from './secrets.ts';

/** Names of the ports of the sandbox mail server: its inbox, and SMTP. */
export const SANDBOX_MAIL = 'sandbox-mail';
export const SANDBOX_MAIL_SMTP = 'sandbox-mail-smtp';
/** Name of the stand-in for Stripe. */
export const SANDBOX_PAYMENTS = 'sandbox-payments';
export const SANDBOX_PROVIDER = 'sandbox-provider';
/** Time that open requests and streams get when the stack stops. */
const SHUTDOWN_GRACE_MS = 8_000;
/** Time that a service keeps serving once it reports a stop, so that the ingress notices. */
const SHUTDOWN_DELAY_MS = 1_000;
/** All sign-ups come from one machine here: people who try the product, tests and load drivers. */
const SIGN_UPS_PER_SOURCE_PER_HOUR = '100000';
/** Variables that the stack sets for each process, or that belong to another program. */
const NOT_INHERITED = new Set(['PORT', 'HOST', 'INTERNAL_PORT', 'DATABASE_URL', 'SVC_DATA_DIR', 'NODE_COMPILE_CACHE']);

export interface ServiceContext {
  readonly env: NodeJS.ProcessEnv;
  readonly ports: ReadonlyMap<string, number>;
  readonly secrets: Secrets;
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly publicBaseUrl: string;
  readonly routesFile: string;
  readonly plansFile: string;
  /** Directory of the usage journals of gateways. */
  readonly usageJournal: string;
  readonly compileCache: string;
}

/** Returns the URL of a listener, such as `auth` or `auth-internal`. */
export const loopbackUrl = (ports: ReadonlyMap<string, number>, name: string): string =>
  `http://127.0.0.1:${ports.get(name)}`;

/** Returns true unless the person has chosen Stripe itself. */
export const usesSandboxPayments = (env: NodeJS.ProcessEnv): boolean => env['PAYMENTS'] !== 'stripe';

/** Returns the person's variables for a process of the stack, without those that would mislead it. */
export const inheritedEnvironment = (env: NodeJS.ProcessEnv, compileCache: string): NodeJS.ProcessEnv => {
  const inherited = Object.entries(env).filter(
    ([name]) => !NOT_INHERITED.has(name) && !/^p?npm_/i.test(name) && !name.endsWith('_DATABASE_URL'),
  );
  return { ...Object.fromEntries(inherited), NODE_COMPILE_CACHE: compileCache };
};

/** Returns the environment of a service: defaults, then the person's variables, then those that only the stack can know. */
export const serviceEnvironment = (service: ServiceName, context: ServiceContext): NodeJS.ProcessEnv => ({
  ...commonDefaults(service, context),
  ...ownDefaults(service, context),
  ...inheritedEnvironment(context.env, context.compileCache),
  PUBLIC_BASE_URL: context.publicBaseUrl,
  NATS_URL: context.natsUrl,
  DATABASE_URL: context.databaseUrl,
  HOST: '127.0.0.1',
  PORT: String(context.ports.get(service)),
  INTERNAL_PORT: String(context.ports.get(`${service}-internal`)),
});

const commonDefaults = (service: ServiceName, context: ServiceContext): NodeJS.ProcessEnv => ({
  LOG_LEVEL: 'info',
  SHUTDOWN_GRACE_MS: String(SHUTDOWN_GRACE_MS),
  SHUTDOWN_DELAY_MS: String(SHUTDOWN_DELAY_MS),
  INTERNAL_API_TOKENS: acceptedTokens(service, context.secrets).join(','),
  INTERNAL_API_TOKEN: apiTokenOf(context.secrets, service),
  JWKS_URL: `${loopbackUrl(context.ports, 'auth')}/v1/integrations/oauth/jwks`,
  ...Object.fromEntries(
    serviceNames.map((name) => [
      `${variablePrefix(name)}_INTERNAL_URL`,
      loopbackUrl(context.ports, `${name}-internal`),
    ]),
  ),
});

const acceptedTokens = (service: ServiceName, secrets: Secrets): readonly string[] =>
  callersOf(service).map((caller) => digestOf(apiTokenOf(secrets, caller)));

const ownDefaults = (service: ServiceName, context: ServiceContext): NodeJS.ProcessEnv => {
  const { secrets, routesFile, plansFile, usageJournal } = context;
  switch (service) {
    case 'auth':
      return {
        AUTH_ENCRYPTION_KEY: secrets.AUTH_ENCRYPTION_KEY,
        SIGN_UPS_PER_SOURCE_PER_HOUR,
        MAIL_URL: `smtp://127.0.0.1:${context.ports.get(SANDBOX_MAIL_SMTP)}`,
        MAIL_FROM: 'svc <no-reply@svc.example>',
        EMAIL_VERIFICATION: 'optional',
        PUBLISHER_PROOFS: process.env['NODE_ENV'] === 'production' ? 'public' : 'sandbox',
      };
    case 'billing':
      return {
        PLANS_FILE: plansFile,
        PAYMENTS: 'sandbox',
        RECEIPT_KEY_SECRET: secrets.RECEIPT_KEY_SECRET,
        SANDBOX_PAYMENTS_URL: loopbackUrl(context.ports, SANDBOX_PAYMENTS),
      };
    case 'inference-gateway':
      return {
        ROUTES_FILE: routesFile,
        SANDBOX_PROVIDER_KEY: secrets.SANDBOX_PROVIDER_KEY,
        API_KEY_PEPPER: secrets.API_KEY_PEPPER,
        PROVENANCE_KEY_SECRET: secrets.PROVENANCE_KEY_SECRET,
        INGRESS_REGION: 'local',
        USAGE_JOURNAL_DIR: usageJournal,
      };
    case 'webhook-dispatcher':
      return { WEBHOOK_ENCRYPTION_KEY: secrets.WEBHOOK_ENCRYPTION_KEY };
  }
};
