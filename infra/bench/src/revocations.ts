import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { type Client, openClient } from './harness/http.ts';
import {
  type App,
  askForTokens,
  codeGrant,
  consent,
  type Person,
  registerApp,
  signIn,
  signUp,
} from './harness/people.ts';
import { loadText, printTable, say } from './harness/report.ts';
import { foreignShare } from './harness/resources.ts';
import { startStack } from './harness/stack.ts';
import { summarize } from './harness/statistics.ts';
import { measureLoadOfEntries } from './revocations/load-entries.ts';

const SAMPLES = Number(process.env['BENCH_SAMPLES'] ?? 300);
/** A session requires a password check, which is slow on purpose. */
const SIGN_OUTS_PER_DISCONNECT = 1 / 3;
const REFUSAL_TIMEOUT_MS = 10_000;

/** A service that must reject a revoked token. */
interface Place {
  readonly name: string;
  readonly client: Client;
  readonly withAccessToken: string;
  readonly withSession: string;
}

interface World {
  readonly auth: Client;
  readonly places: readonly Place[];
  readonly app: App;
  readonly person: Person;
}

/** Measures the time until other services reject a revoked token, and how long a process takes to load a million revocations. */
export const measureRevocations = async (options: readonly string[]): Promise<void> => {
  const { values } = parseArgs({ args: [...options], options: { only: { type: 'string' } } });
  if (values.only !== 'load') await measureRefusals();
  if (values.only !== 'refusals') await measureLoadOfEntries();
};

const measureRefusals = async (): Promise<void> => {
  const stack = await startStack();
  try {
    const auth = await stack.start('auth');
    // Without an ingress, the issuer is auth's address.
    const common = { PUBLIC_BASE_URL: auth.url, AUTH_INTERNAL_URL: auth.internalUrl };
    const jwks = { JWKS_URL: `${auth.url}/v1/integrations/oauth/jwks` };
    const plans = stack.example('plans.yaml');
    const billing = await stack.start('billing', { ...common, ...jwks, PLANS_FILE: plans });
    const gateway = await stack.start('inference-gateway', {
      ...common,
      ...jwks,
      BILLING_INTERNAL_URL: billing.internalUrl,
      ROUTES_FILE: stack.example('routes.yaml'),
      SANDBOX_PROVIDER_KEY: 'unused',
      API_KEY_PEPPER: randomBytes(32).toString('hex'),
    });
    const client = openClient(auth.url, 4);
    const business = await signUp(client, 'business');
    const world: World = {
      auth: client,
      app: await registerApp(client, business),
      person: await signUp(client, 'personal'),
      places: [
        {
          name: 'billing',
          client: openClient(billing.url, 2),
          withAccessToken: '/v1/integrations/usage',
          withSession: '/v1/gateway/wallet',
        },
        {
          name: 'inference gateway',
          client: openClient(gateway.url, 2),
          withAccessToken: '/v1/integrations/inference/capabilities',
          withSession: '/v1/gateway/keys',
        },
      ],
    };
    await measure(world);
    await Promise.all([client, ...world.places.map((place) => place.client)].map((open) => open.close()));
  } finally {
    await stack.stop();
  }
};

const measure = async (world: World): Promise<void> => {
  const foreign = await foreignShare();
  const rows: (string | number)[][] = [];
  const report = (what: string, times: ReadonlyMap<string, number[]>) => {
    for (const [name, series] of times) {
      const { count, p50, p99, max } = summarize(series);
      rows.push([what, name, String(count), p50, p99, max]);
    }
  };
  report('disconnect', await collect(world, SAMPLES, disconnectOnce));
  report('sign-out', await collect(world, Math.ceil(SAMPLES * SIGN_OUTS_PER_DISCONNECT), signOutOnce));
  say(`From the answer 204 until a request sent then or later is refused, each place asked without a pause.`);
  say(`Foreign CPU share ${foreign.toFixed(2)}:\n`);
  printTable(['', 'refused by', 'samples', 'p50 ms', 'p99 ms', 'max ms'], rows);
  say(`Load average after: ${loadText()}.\n`);
};

const collect = async (
  world: World,
  samples: number,
  once: (world: World) => Promise<readonly number[]>,
): Promise<Map<string, number[]>> => {
  const times = new Map<string, number[]>(world.places.map(({ name }) => [name, []]));
  for (let sample = 0; sample < samples; sample += 1) {
    const taken = await once(world);
    for (const [place, { name }] of world.places.entries()) times.get(name)?.push(taken[place] ?? Number.NaN);
  }
  return times;
};

const disconnectOnce = async ({ auth, app, person, places }: World): Promise<readonly number[]> => {
  const { accessToken } = await askForTokens(auth, app, codeGrant(await consent(auth, person, app)));
  const asks = places.map(
    ({ client, withAccessToken }) =>
      () =>
        statusOf(client, withAccessToken, accessToken),
  );
  await expectAccepted(asks);
  const path = `/v1/integrations/connections/${app.clientId}`;
  await auth.expect(204, { method: 'DELETE', path, token: person.session });
  return await untilRefused(asks);
};

const signOutOnce = async ({ auth, person, places }: World): Promise<readonly number[]> => {
  const session = await signIn(auth, person.email);
  const asks = places.map(
    ({ client, withSession }) =>
      () =>
        statusOf(client, withSession, session),
  );
  await expectAccepted(asks);
  await auth.expect(204, { method: 'DELETE', path: '/v1/console/session', token: session });
  return await untilRefused(asks);
};

const statusOf = async (client: Client, path: string, token: string): Promise<number> =>
  (await client.call({ path, token })).status;

/** Fails early: a token that never worked would count as refused at once. */
const expectAccepted = async (asks: readonly (() => Promise<number>)[]): Promise<void> => {
  for (const ask of asks) {
    const status = await ask();
    if (status === 401) throw new Error('the token is refused before it was revoked');
  }
};

/** Returns the milliseconds until each service refuses, up to the start of the first refused request. */
const untilRefused = async (asks: readonly (() => Promise<number>)[]): Promise<number[]> => {
  const revokedAt = performance.now();
  return await Promise.all(
    asks.map(async (ask) => {
      for (;;) {
        const askedAt = performance.now();
        if ((await ask()) === 401) return askedAt - revokedAt;
        if (askedAt - revokedAt > REFUSAL_TIMEOUT_MS) throw new Error('a revoked token still works after ten seconds');
      }
    }),
  );
};
