import { type TestTokens, testTokens } from '@svc/testing';
import { Pool } from 'undici';
import {
  CHAT_MODEL,
  createKeys,
  createSubscribers,
  type GatewayUnderTest,
  startAdmissionFloor,
  startGateway,
  startProvider,
} from './gateway-under-test.ts';
import { closedLoop, interleave, type Measured, metered, type Round } from './harness/load.ts';
import { loadText, printTable, say } from './harness/report.ts';
import { foreignShare } from './harness/resources.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { median, summarize } from './harness/statistics.ts';

const TURNS = Number(process.env['BENCH_SAMPLES'] ?? 300);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const CALLERS = 16;
const WARM_UP = 50;
const PROMPT = 'Say something about Lake Como. [[chunks=20]]';

/** Address and credentials of one side. */
interface Target {
  readonly pool: Pool;
  readonly path: string;
  /** One per caller, each of an account with a separate wallet; direct calls share the provider's key. */
  readonly keys: readonly string[];
  /** Undefined for delegated requests, whose callers name none. */
  readonly model: string | undefined;
}

interface World extends GatewayUnderTest {
  readonly direct: Target;
  /** A bare gateway that asks a bare billing before it forwards. */
  readonly floor: Target;
  readonly ours: Target;
  readonly delegated: Target;
}

/** Compares both kinds of requests, with real billing, against direct calls of the provider and the asking floor. */
export const measureGateway = async (): Promise<void> => {
  const stack = await startStack();
  const tokens = await testTokens();
  try {
    const world = await prepare(stack, tokens);
    await compareLone(world);
    await compareThroughput(world);
    await Promise.all([world.direct, world.floor, world.ours].map(({ pool }) => pool.close()));
  } finally {
    await tokens.stop();
    await stack.stop();
  }
};

const prepare = async (stack: Stack, tokens: TestTokens): Promise<World> => {
  const { providerUrl, providerKey } = await startProvider(stack);
  const services = await startGateway(stack, { tokens, providerUrl, providerKey, launch: { isBundled: true } });
  const { baseUrl } = await startAdmissionFloor(stack, { providerUrl, providerKey });
  const keys = await createKeys(services, tokens, CALLERS);
  const path = '/v1/chat/completions';
  const at = (url: string) => ({ pool: new Pool(url, { connections: CALLERS, pipelining: 1 }), path });
  const atProvider = { keys: [providerKey], model: 'sandbox-chat-1' };
  const ours = { ...at(services.gateway.url), keys, model: CHAT_MODEL };
  const delegated = {
    pool: ours.pool,
    path: '/v1/integrations/inference/chat/completions',
    keys: await createSubscribers(services, tokens, 1),
    model: undefined,
  };
  return {
    ...services,
    direct: { ...at(providerUrl), ...atProvider },
    floor: { ...at(baseUrl), ...atProvider },
    ours,
    delegated,
  };
};

/** Milliseconds to the first body bytes and to the end. */
interface Asked {
  readonly first: number;
  readonly whole: number;
}

/** Sends one request. Throws for an incomplete response. */
const ask = async ({ pool, path, keys, model }: Target, isStream: boolean, caller = 0): Promise<Asked> => {
  const startedAt = performance.now();
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path,
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
  if (statusCode !== 200 || !isComplete) throw new Error(`${path}: ${statusCode} ${text.slice(-300)}`);
  return { first, whole };
};

/**
 * Sends one request to each side in turn on one connection, so that other load hardly affects the difference within a
 * turn.
 */
const compareLone = async ({ direct, floor, ours, delegated }: World): Promise<void> => {
  const targets = { direct, 'asking floor': floor, 'API key': ours, delegated };
  const rows: (string | number)[][] = [];
  const foreign = await foreignShare();
  for (const isStream of [false, true]) {
    const turns: Asked[][] = [];
    for (let turn = -WARM_UP; turn < TURNS; turn += 1) {
      const asked: Asked[] = [];
      for (const target of Object.values(targets)) asked.push(await ask(target, isStream));
      if (turn >= 0) turns.push(asked);
    }
    const added = (place: number, of: keyof Asked) =>
      median(turns.map((asked) => (asked[place]?.[of] ?? Number.NaN) - (asked[0]?.[of] ?? Number.NaN)));
    const ofFloor = (place: number, of: keyof Asked) => added(place, of) / added(1, of);
    for (const [place, name] of Object.keys(targets).entries()) {
      const { p50 } = summarize(turns.map((asked) => asked[place]?.whole ?? Number.NaN));
      const comparison =
        place === 0
          ? ['-', '-', '-', '-']
          : [added(place, 'whole'), ofFloor(place, 'whole'), added(place, 'first'), ofFloor(place, 'first')];
      rows.push([isStream ? 'SSE, 20 chunks' : 'JSON', name, p50, ...comparison]);
    }
  }
  say(`One connection, ${TURNS} turns each; foreign CPU share ${foreign.toFixed(2)}:\n`);
  printTable(['', '', 'p50 ms', 'added p50 ms', 'of the floor', 'added to first event p50 ms', 'of the floor'], rows);
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
