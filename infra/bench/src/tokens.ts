import { randomBytes } from 'node:crypto';
import { freePort } from '@svc/embedded-servers';
import { type Client, openClient } from './harness/http.ts';
import { closedLoop, interleave, type Measured, type Round, timed } from './harness/load.ts';
import { metered } from './harness/metered.ts';
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
/** Per round; the library's own store in memory keeps a thousand entries and forgets older ones. */
const CODES = 200;
const ROUND_SECONDS_MAX = 60;
const FLOOR = new URL('./token-floor/main.ts', import.meta.url).pathname;

/** One of the two token endpoints. */
interface Side {
  readonly client: Client;
  readonly app: App;
  readonly pid: number;
  /** Codes that nobody has redeemed yet. */
  codes(count: number): Promise<string[]>;
}

/** Measures auth's token endpoint against the library it uses with everything in memory, and the authorize page. */
export const measureTokens = async (): Promise<void> => {
  const stack = await startStack();
  try {
    const [auth, floor] = [await startAuth(stack), await startFloor(stack)];
    await exchangeAndRefresh(auth, floor);
    await showPages(auth);
    await Promise.all([auth.client.close(), floor.client.close()]);
  } finally {
    await stack.stop();
  }
};

const startAuth = async (stack: Stack): Promise<Side> => {
  const auth = await stack.start('auth', { AUTH_ENCRYPTION_KEY: randomBytes(32).toString('hex') });
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
    // Neighbours in the queue belong to different people, as they would in life.
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
      // The floor answers nothing else.
      return ((await answer) as { codes: string[] }).codes;
    },
  };
};

const exchangeRound = async (side: Side): Promise<Round> => {
  const codes = await side.codes(CODES);
  return await closedLoop({ callers: CALLERS, seconds: ROUND_SECONDS_MAX }, async () => {
    const code = codes.pop();
    return code === undefined ? undefined : await timed(() => askForTokens(side.client, side.app, codeGrant(code)));
  });
};

const refreshRound = async (side: Side): Promise<Round> => {
  const held = await Promise.all(
    (await side.codes(CALLERS)).map(
      async (code) => (await askForTokens(side.client, side.app, codeGrant(code))).refreshToken,
    ),
  );
  return await closedLoop({ callers: CALLERS, seconds: SECONDS }, (caller) =>
    timed(async () => {
      const grant = { grant_type: 'refresh_token', refresh_token: held[caller] ?? '' };
      held[caller] = (await askForTokens(side.client, side.app, grant)).refreshToken;
    }),
  );
};

const exchangeAndRefresh = async (auth: Side, floor: Side): Promise<void> => {
  await exchangeRound(auth);
  await exchangeRound(floor);
  const refreshOfAuth = metered(auth.pid, () => refreshRound(auth));
  const refreshOfFloor = metered(floor.pid, () => refreshRound(floor));
  const { results, foreign } = await interleave(
    {
      exchange: () => exchangeRound(auth),
      exchangeFloor: () => exchangeRound(floor),
      refresh: refreshOfAuth.round,
      refreshFloor: refreshOfFloor.round,
    },
    ROUNDS,
  );
  const row = (name: string, { rate, p50, p99 }: Measured, floorRate: number) => [
    name,
    rate,
    p50,
    p99,
    `${(floorRate / rate).toFixed(2)}x`,
  ];
  say(`Token endpoint, ${CALLERS} connections; foreign CPU share ${foreign.toFixed(2)}:\n`);
  printTable(
    ['', 'per second', 'p50 ms', 'p99 ms', 'floor is faster by'],
    [
      row('auth, code exchange', results.exchange, results.exchangeFloor.rate),
      row('floor, code exchange', results.exchangeFloor, results.exchangeFloor.rate),
      row('auth, refresh', results.refresh, results.refreshFloor.rate),
      row('floor, refresh', results.refreshFloor, results.refreshFloor.rate),
    ],
  );
  const [ours, theirs] = [refreshOfAuth.perCall(), refreshOfFloor.perCall()];
  say(
    `Processor time per refresh: auth ${Math.round(ours)} us, floor ${Math.round(theirs)} us (${(ours / theirs).toFixed(2)}x).\n`,
  );
};

const showPages = async (auth: Side): Promise<void> => {
  const query = new URLSearchParams({
    ...{
      response_type: 'code',
      client_id: auth.app.clientId,
      redirect_uri: REDIRECT_URI,
      scope: 'inference usage:read',
    },
    ...{ state: STATE, code_challenge: CHALLENGE, code_challenge_method: 'S256' },
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
