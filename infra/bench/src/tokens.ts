import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@svc/testing/servers';
import { type Client, openClient } from './harness/http.ts';
import { closedLoop, interleave, type Measured, type Metered, metered, type Round, timed } from './harness/load.ts';
import {
  type App,
  askForTokens,
  CHALLENGE,
  codeGrant,
  consent,
  type Person,
  REDIRECT_URI,
  registerApp,
  STATE,
  signUp,
} from './harness/people.ts';
import { loadText, printTable, say } from './harness/report.ts';
import { type Stack, startStack } from './harness/stack.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const CALLERS = 8;
/** Codes at a time; the library's in-memory store keeps a thousand entries and drops older ones. */
const CODES = 200;
/** Batches of codes per round. */
const BATCHES = 3;
/** Pause after consents, so that publishing their events is not measured. */
const SETTLE_MS = 300;
const ROUND_SECONDS_MAX = 60;
const FLOOR = new URL('./token-floor/main.ts', import.meta.url).pathname;

/** One of the two token endpoints. */
interface Side {
  readonly client: Client;
  readonly app: App;
  readonly pid: number;
  /** Returns fresh codes. */
  readonly codes: (count: number) => Promise<string[]>;
}

/** Measures auth's token endpoint against its library in memory, and the authorize page. */
export const measureTokens = async (): Promise<void> => {
  const stack = await startStack();
  try {
    const auth = await startAuth(stack);
    const floor = await startFloor(stack);
    await exchangeAndRefresh(auth, floor);
    await showPages(auth);
    await Promise.all([auth.client.close(), floor.client.close()]);
  } finally {
    await stack.stop();
  }
};

const startAuth = async (stack: Stack): Promise<Side> => {
  const auth = await stack.start('auth');
  const client = openClient(auth.url, CALLERS);
  const app = await registerApp(client, await signUp(client, 'business'));
  const people: Person[] = [];
  for (let count = 0; count < CALLERS; count += 1) people.push(await signUp(client, 'personal'));
  const codes = async (count: number): Promise<string[]> => {
    const lists = await Promise.all(
      people.map(async (person) => {
        const own: string[] = [];
        while (own.length * people.length < count) own.push(await consent(client, person, app));
        return own;
      }),
    );
    // Adjacent codes belong to different users, as in production.
    return Array.from(
      { length: count },
      (_, index) => lists[index % people.length]?.[Math.floor(index / people.length)] ?? '',
    );
  };
  return { client, app, pid: auth.process.pid, codes };
};

const startFloor = async (stack: Stack): Promise<Side> => {
  const port = await freePort();
  const secret = randomBytes(32).toString('hex');
  const env = { CLIENT_SECRET: secret, REDIRECT_URI, CODE_CHALLENGE: CHALLENGE, PORT: String(port) };
  const child = await stack.startScript(FLOOR, env);
  const url = `http://127.0.0.1:${port}`;
  await child.ready(`${url}/v1/integrations/oauth/jwks`);
  return {
    client: openClient(url, CALLERS),
    app: { clientId: 'floor', clientSecret: secret },
    pid: child.pid,
    codes: async (count) => {
      const answer = child.message();
      child.send({ count });
      // The lower bound sends no other reply.
      return ((await answer) as { codes: string[] }).codes;
    },
  };
};

/** A kind of request at one side; its preparation is neither timed nor metered. */
interface Measurement extends Metered {
  /** Runs an unmeasured round. */
  readonly warmUp: () => Promise<void>;
}

const measurement = (metered: Metered, round: () => Promise<Round>): Measurement => ({
  ...metered,
  round,
  warmUp: async () => {
    await round();
    metered.reset();
  },
});

const exchangeAt = (side: Side): Measurement => {
  let codes: string[] = [];
  const loop = metered(side.pid, () =>
    closedLoop({ callers: CALLERS, seconds: ROUND_SECONDS_MAX }, async () => {
      const code = codes.pop();
      return code === undefined ? undefined : await timed(() => askForTokens(side.client, side.app, codeGrant(code)));
    }),
  );
  return measurement(loop, async () => {
    const rounds: Round[] = [];
    while (rounds.length < BATCHES) {
      codes = await side.codes(CODES);
      await sleep(SETTLE_MS);
      rounds.push(await loop.round());
    }
    return combineRounds(rounds);
  });
};

const combineRounds = (rounds: readonly Round[]): Round => {
  const milliseconds = rounds.flatMap((round) => round.milliseconds);
  const seconds = rounds.reduce((sum, round) => sum + round.milliseconds.length / round.rate, 0);
  return { rate: milliseconds.length / seconds, milliseconds };
};

const refreshAt = (side: Side): Measurement => {
  let held: string[] = [];
  const loop = metered(side.pid, () =>
    closedLoop({ callers: CALLERS, seconds: SECONDS }, (caller) =>
      timed(async () => {
        const grant = { grant_type: 'refresh_token', refresh_token: held[caller] ?? '' };
        held[caller] = (await askForTokens(side.client, side.app, grant)).refreshToken;
      }),
    ),
  );
  return measurement(loop, async () => {
    const tokens = (await side.codes(CALLERS)).map((code) => askForTokens(side.client, side.app, codeGrant(code)));
    held = (await Promise.all(tokens)).map(({ refreshToken }) => refreshToken);
    await sleep(SETTLE_MS);
    return await loop.round();
  });
};

const exchangeAndRefresh = async (auth: Side, floor: Side): Promise<void> => {
  const exchanges = { ours: exchangeAt(auth), theirs: exchangeAt(floor) };
  const refreshes = { ours: refreshAt(auth), theirs: refreshAt(floor) };
  for (const { ours, theirs } of [exchanges, refreshes]) {
    await ours.warmUp();
    await theirs.warmUp();
  }
  const { results, foreign } = await interleave(
    {
      exchange: exchanges.ours.round,
      exchangeFloor: exchanges.theirs.round,
      refresh: refreshes.ours.round,
      refreshFloor: refreshes.theirs.round,
    },
    ROUNDS,
  );
  const rows = (kind: string, pair: typeof exchanges, [ours, theirs]: readonly [Measured, Measured]) =>
    [
      { name: `auth, ${kind}`, measured: ours, cpu: pair.ours.perCall() },
      { name: `floor, ${kind}`, measured: theirs, cpu: pair.theirs.perCall() },
    ].map(({ name, measured, cpu }) => [
      ...[name, measured.rate, measured.p50, measured.p99, `${(theirs.rate / measured.rate).toFixed(2)}x`],
      ...[cpu, `${(cpu / pair.theirs.perCall()).toFixed(2)}x`],
    ]);
  say(`Token endpoint, ${CALLERS} connections; foreign CPU share ${foreign.toFixed(2)}:\n`);
  printTable(
    ['', 'per second', 'p50 ms', 'p99 ms', 'floor is faster by', 'CPU us each', 'of the floor'],
    [
      ...rows('code exchange', exchanges, [results.exchange, results.exchangeFloor]),
      ...rows('refresh', refreshes, [results.refresh, results.refreshFloor]),
    ],
  );
};

const showPages = async (auth: Side): Promise<void> => {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: auth.app.clientId,
    redirect_uri: REDIRECT_URI,
    scope: 'inference usage:read',
    state: STATE,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
  });
  const path = `/v1/integrations/oauth/authorize?${query}`;
  const page = metered(auth.pid, () =>
    closedLoop({ callers: CALLERS, seconds: SECONDS }, () =>
      timed(() => auth.client.expect(200, { path, headers: { accept: 'text/html' } })),
    ),
  );
  await page.round();
  const { results, foreign } = await interleave({ page: page.round }, ROUNDS);
  const { rate, p50, p99 } = results.page;
  say(`Authorize page without a session, ${CALLERS} connections; foreign CPU share ${foreign.toFixed(2)}:\n`);
  printTable(['pages/s', 'p50 ms', 'p99 ms', 'auth CPU us/page'], [[rate, p50, p99, page.perCall()]]);
  say(`Load average after: ${loadText()}.\n`);
};
