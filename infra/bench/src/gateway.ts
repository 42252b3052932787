import { randomBytes } from 'node:crypto';
import { type TestTokens, testTokens } from '@svc/testing';
import { freePort } from '@svc/testing/servers';
import { Pool } from 'undici';
import { CHAT_MODEL, createKeys, type GatewayUnderTest, startGateway } from './gateway-under-test.ts';
import { closedLoop, interleave, type Measured, metered, type Round } from './harness/load.ts';
import { loadText, printTable, say } from './harness/report.ts';
import { foreignShare, processorMicroseconds } from './harness/resources.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { median, summarize } from './harness/statistics.ts';

const PAIRS = Number(process.env['BENCH_SAMPLES'] ?? 300);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const CALLERS = 16;
const WARM_UP = 50;
const PROMPT = 'Say something about Lake Como. [[chunks=20]]';

/** Address and credentials of one side. */
interface Target {
  readonly pool: Pool;
  /** One per caller, each of an account with a separate wallet; direct calls share the provider's key. */
  readonly keys: readonly string[];
  readonly model: string;
}

interface World extends GatewayUnderTest {
  readonly direct: Target;
  readonly ours: Target;
}

/** Compares the API-key route, with real billing and a funded wallet, against direct calls of the provider. */
export const measureGateway = async (): Promise<void> => {
  const stack = await startStack();
  const tokens = await testTokens();
  try {
    const world = await prepare(stack, tokens);
    await comparePairs(world);
    await compareThroughput(world);
    await Promise.all([world.direct.pool.close(), world.ours.pool.close()]);
  } finally {
    await tokens.stop();
    await stack.stop();
  }
};

const prepare = async (stack: Stack, tokens: TestTokens): Promise<World> => {
  const providerPort = await freePort();
  const providerKey = randomBytes(16).toString('hex');
  const providerUrl = `http://127.0.0.1:${providerPort}`;
  const script = new URL(import.meta.resolve('@svc/sandbox/provider/main')).pathname;
  const provider = await stack.startScript(script, { PORT: String(providerPort), SANDBOX_PROVIDER_KEY: providerKey });
  await provider.ready(`${providerUrl}/healthz`);
  const services = await startGateway(stack, { tokens, providerUrl, providerKey });
  const keys = await createKeys(services, tokens, CALLERS);
  const pool = (url: string) => new Pool(url, { connections: CALLERS, pipelining: 1 });
  return {
    ...services,
    direct: { pool: pool(providerUrl), keys: [providerKey], model: 'sandbox-chat-1' },
    ours: { pool: pool(services.gateway.url), keys, model: CHAT_MODEL },
  };
};

/** Measures the milliseconds to the first body bytes and to the end. Throws for an incomplete response. */
const ask = async (
  { pool, keys, model }: Target,
  isStream: boolean,
  caller = 0,
): Promise<{ first: number; whole: number }> => {
  const startedAt = performance.now();
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${keys[caller % keys.length]}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream: isStream, messages: [{ role: 'user', content: PROMPT }] }),
  });
  let first = Number.NaN;
  let text = '';
  for await (const chunk of body) {
    if (text === '') first = performance.now() - startedAt;
    text += String(chunk);
  }
  const whole = performance.now() - startedAt;
  const isWhole = isStream ? text.trimEnd().endsWith('data: [DONE]') : text.trimEnd().endsWith('}');
  // Compliance metadata is part of the work: a gateway without it must not look fast.
  const isComplete = isWhole && (model !== CHAT_MODEL || text.includes('"compliance_metadata"'));
  if (statusCode !== 200 || !isComplete) throw new Error(`${model}: ${statusCode} ${text.slice(-300)}`);
  return { first, whole };
};

/**
 * Sends one request to each side in turn on one connection, so that other load hardly affects the difference within a
 * pair.
 */
const comparePairs = async ({ direct, ours, gateway, billing }: World): Promise<void> => {
  const rows: (string | number)[][] = [];
  const foreign = await foreignShare();
  for (const isStream of [false, true]) {
    for (let count = 0; count < WARM_UP; count += 1) await Promise.all([ask(direct, isStream), ask(ours, isStream)]);
    const before = [gateway, billing].map(({ process }) => processorMicroseconds(process.pid));
    const plain: { first: number; whole: number }[] = [];
    const through: { first: number; whole: number }[] = [];
    for (let pair = 0; pair < PAIRS; pair += 1) {
      plain?.push(await ask(direct, isStream));
      through?.push(await ask(ours, isStream));
    }
    const used = [gateway, billing].map(
      ({ process }, place) => (processorMicroseconds(process.pid) - (before[place] ?? 0)) / PAIRS,
    );
    const added = (of: 'first' | 'whole') =>
      median((through ?? []).map((each, pair) => each[of] - (plain?.[pair]?.[of] ?? Number.NaN)));
    const wholeOf = (series: readonly { whole: number }[] = []) => summarize(series.map(({ whole }) => whole)).p50;
    rows.push([
      isStream ? 'SSE, 20 chunks' : 'JSON',
      wholeOf(plain),
      wholeOf(through),
      added('whole'),
      added('first'),
      ...used,
    ]);
  }
  say(`One connection, ${PAIRS} pairs each; foreign CPU share ${foreign.toFixed(2)}:\n`);
  const head = ['', 'direct p50 ms', 'gateway p50 ms', 'added p50 ms', 'added to first event p50 ms'];
  printTable([...head, 'gateway CPU us/request', 'billing CPU us/request'], rows);
};

const compareThroughput = async ({ direct, ours, gateway, billing }: World): Promise<void> => {
  const oneWallet = { ...ours, keys: ours.keys.slice(0, 1) };
  const round = (target: Target) => (): Promise<Round> =>
    closedLoop({ callers: CALLERS, seconds: SECONDS }, async (caller) => (await ask(target, false, caller)).whole);
  await round(ours)();
  const costOfGateway = metered(gateway.process.pid, round(ours));
  const costOfBilling = metered(billing.process.pid, costOfGateway.round);
  const { results, foreign } = await interleave(
    { direct: round(direct), wallets: costOfBilling.round, wallet: round(oneWallet) },
    ROUNDS,
  );
  const row = (name: string, { rate, p50, p99 }: Measured) => [name, rate, p50, p99];
  say(`JSON, ${CALLERS} connections; foreign CPU share ${foreign.toFixed(2)}:\n`);
  printTable(
    ['', 'requests/s', 'p50 ms', 'p99 ms', 'gateway CPU us/request', 'billing CPU us/request'],
    [
      [...row('direct', results.direct), '-', '-'],
      [...row('gateway, a wallet per connection', results.wallets), costOfGateway.perCall(), costOfBilling.perCall()],
      [...row('gateway, one wallet for all', results.wallet), '-', '-'],
    ],
  );
  say(`Load average after: ${loadText()}.\n`);
};
