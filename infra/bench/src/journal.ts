import { type TestTokens, testTokens } from '@svc/testing';
import { Pool } from 'undici';
import { CHAT_MODEL, createKeys, startGateway, startProvider } from './gateway-under-test.ts';
import { closedLoop, interleave, type Round, timed } from './harness/load.ts';
import { metered } from './harness/metered.ts';
import { foreignShare, processorMicroseconds } from './harness/processor-time.ts';
import { loadText, printTable, say } from './harness/report.ts';
import { type RunningService, type Stack, startStack } from './harness/stack.ts';
import { median, summarize } from './harness/statistics.ts';

const PAIRS = Number(process.env['BENCH_SAMPLES'] ?? 3_000);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 6);
const CALLERS = 16;
const WARM_UP = 500;
const PROMPT = 'Say something about Lake Como.';

/** One of two gateways on the same databases. */
interface Target {
  readonly gateway: RunningService;
  readonly pool: Pool;
}

interface World {
  readonly withJournal: Target;
  readonly without: Target;
  readonly keys: readonly string[];
}

/** Compares API-key requests through a gateway with an outcome journal to those through one without. */
export const measureJournal = async (): Promise<void> => {
  const stack = await startStack();
  const tokens = await testTokens();
  try {
    const world = await prepare(stack, tokens);
    await comparePairs(world);
    await compareLoad(world);
    await Promise.all([world.withJournal.pool.close(), world.without.pool.close()]);
  } finally {
    await tokens.stop();
    await stack.stop();
  }
};

const prepare = async (stack: Stack, tokens: TestTokens): Promise<World> => {
  const services = await startGateway(stack, { tokens, ...(await startProvider(stack)), launch: { isBundled: true } });
  const keys = await createKeys(services, tokens, CALLERS);
  const target = (gateway: RunningService): Target => ({
    gateway,
    pool: new Pool(gateway.url, { connections: CALLERS, pipelining: 1 }),
  });
  const without = await services.gateway.replica({ USAGE_JOURNAL_DIR: '' });
  return { withJournal: target(services.gateway), without: target(without), keys };
};

const ask = async ({ pool }: Target, key: string | undefined): Promise<void> => {
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: CHAT_MODEL, messages: [{ role: 'user', content: PROMPT }] }),
  });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`${statusCode} ${text.slice(-300)}`);
};

/** Uses one connection; the pairs alternate in order, so that neither gateway is always second. */
const comparePairs = async ({ withJournal, without, keys: [key] }: World): Promise<void> => {
  const targets = [withJournal, without] as const;
  for (let count = 0; count < WARM_UP; count += 1) for (const target of targets) await ask(target, key);
  const foreign = await foreignShare();
  const used = () => targets.map(({ gateway }) => processorMicroseconds(gateway.process.pid));
  const before = used();
  const milliseconds: [number[], number[]] = [[], []];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    for (const place of pair % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      milliseconds[place].push(await timed(() => ask(targets[place], key)));
    }
  }
  const after = used();
  const cpu = (place: 0 | 1): number => ((after[place] ?? 0) - (before[place] ?? 0)) / PAIRS;
  const [ours, others] = milliseconds;
  const difference = median(ours.map((each, pair) => each - (others[pair] ?? Number.NaN)));
  say(`JSON, one connection, ${PAIRS} pairs; foreign CPU share ${foreign.toFixed(2)}:\n`);
  printTable(
    ['', 'p50 ms', 'p99 ms', 'gateway CPU us/request'],
    [
      ['with a journal', summarize(ours).p50, summarize(ours).p99, cpu(0)],
      ['without', summarize(others).p50, summarize(others).p99, cpu(1)],
    ],
  );
  say(`Median difference within a pair: ${difference.toFixed(4)} ms.\n`);
};

const compareLoad = async ({ withJournal, without, keys }: World): Promise<void> => {
  const round = (target: Target) => (): Promise<Round> =>
    closedLoop({ callers: CALLERS, seconds: SECONDS }, (caller) => timed(() => ask(target, keys[caller])));
  const ours = metered(withJournal.gateway.process.pid, round(withJournal));
  const others = metered(without.gateway.process.pid, round(without));
  const { results, foreign } = await interleave({ ours: ours.round, others: others.round }, ROUNDS);
  say(`JSON, ${CALLERS} connections; foreign CPU share ${foreign.toFixed(2)}:\n`);
  printTable(
    ['', 'requests/s', 'p50 ms', 'p99 ms', 'gateway CPU us/request'],
    [
      ['with a journal', results.ours.rate, results.ours.p50, results.ours.p99, ours.perCall()],
      ['without', results.others.rate, results.others.p50, results.others.p99, others.perCall()],
    ],
  );
  say(`Load average after: ${loadText()}.\n`);
};
