import { randomUUID } from 'node:crypto';
import { type Client, openClient } from './harness/http.ts';
import { foreignShare } from './harness/processor-time.ts';
import { createRandom } from './harness/random.ts';
import { loadText, printTable, say } from './harness/report.ts';
import { startStack } from './harness/stack.ts';
import { summarize, welchT } from './harness/statistics.ts';

const TRIES = Number(process.env['BENCH_TRIES'] ?? 200);
const SEED = Number(process.env['BENCH_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const PASSWORD = 'a rather long passphrase';

/** A route that must not tell which addresses have an account. */
interface Suspect {
  readonly name: string;
  readonly path: string;
  readonly json: (email: string) => object;
}

const RESET: Suspect = { name: 'password reset', path: '/v1/console/password-resets', json: (email) => ({ email }) };
const SIGN_UP: Suspect = {
  name: 'sign-up',
  path: '/v1/console/accounts',
  json: (email) => ({ email, password: PASSWORD, account_type: 'personal' }),
};

/** Measures what the answers to a reset and a sign-up disclose about an address: status, shape and time. */
export const measureDisclosure = async (): Promise<void> => {
  const stack = await startStack();
  try {
    const auth = await stack.start('auth', { EMAIL_VERIFICATION: 'required' });
    const client = openClient(auth.url, 1);
    const known = Array.from({ length: TRIES }, newEmail);
    for (const email of known) await client.call({ method: 'POST', path: SIGN_UP.path, json: SIGN_UP.json(email) });
    const random = createRandom(SEED);
    const foreign = await foreignShare();
    const rows = [];
    for (const suspect of [RESET, SIGN_UP]) rows.push(await observe(client, suspect, { known, random }));
    say(`${TRIES} tries each, known and unknown addresses in random order (seed ${SEED}).`);
    say(`Foreign CPU share ${foreign.toFixed(2)}:\n`);
    printTable(['', 'answers', 'known p50 ms', 'unknown p50 ms', 'Welch t'], rows);
    say(`Load average after: ${loadText()}.\n`);
    await client.close();
  } finally {
    await stack.stop();
  }
};

const observe = async (
  client: Client,
  suspect: Suspect,
  { known, random }: { readonly known: readonly string[]; readonly random: () => number },
): Promise<(string | number)[]> => {
  const shapes = { known: new Set<string>(), unknown: new Set<string>() };
  const times = { known: [] as number[], unknown: [] as number[] };
  const ask = async (kind: 'known' | 'unknown', email: string): Promise<void> => {
    const startedAt = performance.now();
    const answer = await client.call({ method: 'POST', path: suspect.path, json: suspect.json(email) });
    times[kind].push(performance.now() - startedAt);
    shapes[kind].add(`${answer.status} ${shapeOf(answer.text)}`);
  };
  for (const email of known) {
    const asks = [() => ask('known', email), () => ask('unknown', newEmail())];
    if (random() < 0.5) asks.reverse();
    for (const one of asks) await one();
  }
  const seen = [...shapes.known];
  const unseen = [...shapes.unknown];
  const isSame = seen.length === 1 && unseen.length === 1 && seen[0] === unseen[0];
  if (!isSame) process.exitCode = 1;
  const t = welchT(times.known, times.unknown);
  return [suspect.name, isSame ? 'the same' : 'DIFFER', summarize(times.known).p50, summarize(times.unknown).p50, t];
};

/** Returns the members of a JSON answer with their types. */
const shapeOf = (text: string): string =>
  text.replaceAll(/:"(?:[^"\\]|\\.)*"/g, ':text').replaceAll(/:-?\d[\d.]*/g, ':number');

const newEmail = (): string => `${randomUUID()}@example.com`;
