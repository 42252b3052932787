import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { type AdmissionRequest, type AdmissionsCall, admissionChannel, internalRoutes, newId } from '@svc/contracts';
import { createDatabase } from '@svc/database';
import {
  createInternalApp,
  createLineClient,
  createLogger,
  createMetrics,
  type LineClient,
  listen,
  type Stage,
} from '@svc/service-kit';
import type { BillingConfig } from '../config.ts';
import { createReservationMeters, openReservationBorder } from '../reservations/index.ts';

const SERVICE = 'billing';
/** Nobody else may call what stands in front of the real database. */
const TOKEN = `inference-gateway:${randomBytes(32).toString('base64url')}`;
const HERE = { host: '127.0.0.1', port: 0 };
/** Those that call at one time: few, as most calls come alone when it counts. */
export const CALLERS = 2;
const TIMEOUT_MS = 5_000;
/** After so many calls somebody looks whether the process is well, which takes the way through Express. */
const PROBED_EVERY = 32;
/** Nobody has these ids: whatever is asked for them is refused, and nothing is written. */
const userId = newId('usr');
const keyId = newId('key');
const clientId = newId('app');

/**
 * Opens the internal application on the loopback interface, in front of the service's own database: every question is about an
 * account that does not exist. Nothing is written, counted or logged.
 */
export const openStage = async (config: BillingConfig): Promise<Stage> => {
  const database = createDatabase(config.DATABASE_URL, { applicationName: SERVICE, poolMax: CALLERS });
  const metrics = createMetrics(SERVICE, { isOfProcess: false });
  const logger = createLogger({ service: SERVICE, level: config.LOG_LEVEL, destination: { write: () => {} } });
  const tokens = [TOKEN];
  const { bindings, channel } = openReservationBorder({
    ...{ database, logger, metrics, tokens, meters: createReservationMeters(metrics) },
    currency: config.BILLING_CURRENCY,
    pastDueGraceDays: config.PAST_DUE_GRACE_DAYS,
  });
  const contract = bindings.map(({ route }) => route);
  const ready = async () => ({});
  const app = createInternalApp({
    ...{ service: SERVICE, bindings, contract, logger, metrics, ready },
    tokens,
  });
  const listener = await listen(app, { ...HERE, channel });
  const agent = new Agent({ keepAlive: true });
  const client = createLineClient({ ...admissionChannel, baseUrl: listener.url, token: TOKEN });
  return {
    call: (number) => call({ agent, client, url: listener.url }, number),
    close: async () => {
      agent.destroy();
      client.close();
      await listener.drain(0);
      await database.destroy();
    },
  };
};

/** How the stage is called. */
interface Callers {
  readonly agent: Agent;
  readonly client: LineClient;
  readonly url: string;
}

/** Half of them ask for an API key alone; the others for an app, for several keys at once, and how a request ended. */
const call = async ({ agent, client, url }: Callers, number: number): Promise<void> => {
  if (number % PROBED_EVERY === 0) await send(agent, { url: `${url}/healthz`, method: 'GET' });
  if (number % 8 !== 7) return await ask(client, questionsOf(number));
  const body = JSON.stringify({ settlements: [settlement()] });
  const status = await send(agent, { url: `${url}${internalRoutes.settleRequests.path}`, method: 'POST', body });
  if (status !== 200) throw new Error(`a call of the rehearsal was answered with status ${status}`);
};

const ask = async (client: LineClient, admissions: AdmissionRequest[]): Promise<void> => {
  const question: AdmissionsCall = { request_id: newId('req'), admissions };
  const lines: string[] = [];
  const onLine = (line: string): boolean => lines.push(line) === admissions.length;
  await client.ask({ line: JSON.stringify(question), timeoutMs: TIMEOUT_MS, onLine });
};

const HEADERS = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

/** Over Node's plain client: what fetch leaves of each call would make the heap grow to twice its size. Answers the status. */
const send = (
  agent: Agent,
  { url, method, body }: { readonly url: string; readonly method: 'GET' | 'POST'; readonly body?: string },
): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const req = request(url, { agent, method, headers: HEADERS, timeout: TIMEOUT_MS }, (res) => {
      res.on('end', () => resolve(res.statusCode)).on('error', reject);
      res.resume();
    });
    req.on('error', reject).on('timeout', () => req.destroy(new Error('no answer in time')));
    req.end(body);
  });

const questionsOf = (number: number): AdmissionRequest[] => {
  switch (number % 8) {
    case 1:
    case 5:
      return [delegated()];
    case 3:
      return [keyed(), keyed(), delegated()];
    default:
      return [keyed()];
  }
};

const keyed = (): AdmissionRequest => ({
  kind: 'api_key',
  request_id: newId('req'),
  svc_user_id: userId,
  key_id: keyId,
  hold_micros: 1,
  requests_per_minute: null,
  monthly_limit_micros: null,
});

const delegated = (): AdmissionRequest => ({
  kind: 'delegated',
  request_id: newId('req'),
  svc_user_id: userId,
  client_id: clientId,
  service: 'chat',
  estimate_micros: 1,
});

const settlement = () => ({
  request_id: newId('req'),
  result: { outcome: 'settled', cost_micros: 1 },
});
