import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { plansFileSchema, STRIPE_SANDBOX } from '@svc/contracts';
import { createLogger, runPeriodically } from '@svc/service-kit';
import { parse } from 'yaml';
import { openJournal } from './journal.ts';
import { sendOverHttp, startStripeServer } from './stripe-server.ts';
import { StripeStandIn } from './stripe-stand-in.ts';

const PORT_DEFAULT = 9300;
const RUN_INTERVAL_MS = 2_000;
const EVENTS_PATH = '/v1/payments/stripe/events';

const { env } = process;
const logger = createLogger({ service: 'sandbox-payments', level: 'info' });

/** Returns the value of a variable. Throws if it is not set. */
const required = (name: string): string => {
  const value = env[name];
  if (!value) throw new Error(`${name} must be set`);
  return value;
};

const directory = env['SANDBOX_PAYMENTS_DIR'];
if (directory) mkdirSync(directory, { recursive: true, mode: 0o700 });
const billingUrl = required('BILLING_URL');
const standIn = new StripeStandIn({
  plans: plansFileSchema.parse(parse(readFileSync(required('PLANS_FILE'), 'utf8'))).plans,
  publicBaseUrl: required('PUBLIC_BASE_URL'),
  secret: STRIPE_SANDBOX.webhookSecret,
  send: sendOverHttp(() => `${billingUrl}${EVENTS_PATH}`),
  // Addresses of pages cannot be guessed.
  newId: (prefix, count) => `${prefix}_${String(count).padStart(14, '0')}${randomBytes(9).toString('hex')}`,
  ...(directory ? { journal: openJournal(join(directory, 'stripe.jsonl')) } : {}),
});
const port = Number(env['PORT'] ?? PORT_DEFAULT);
const server = await startStripeServer(standIn, { host: env['HOST'] ?? '127.0.0.1', port });
const work = runPeriodically({
  name: 'sandbox payments',
  intervalMs: RUN_INTERVAL_MS,
  run: () => standIn.run(),
  logger,
});
logger.info({ port }, 'ready');

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void Promise.all([work.stop(), server.stop()]).then(() => process.exit(0));
  });
}
