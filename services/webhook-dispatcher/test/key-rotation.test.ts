import { createHmac, randomBytes } from 'node:crypto';
import { secretOperations } from '@svc/contracts';
import { createInternalClient } from '@svc/service-kit';
import { internalCredential, waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, type Dispatcher, newOwner, startDispatcher, startWorld, type World } from './support/dispatcher.ts';
import type { Received } from './support/receiver.ts';

const OLD = randomBytes(32).toString('base64');
const NEW = randomBytes(32).toString('base64');
let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world?.stop();
});

const start = (keys: string): Promise<Dispatcher> => startDispatcher(world, { env: { WEBHOOK_ENCRYPTION_KEY: keys } });

const reencrypt = async ({ internalUrl }: Dispatcher) => {
  const token = internalCredential('operator');
  const client = createInternalClient({ baseUrl: internalUrl, token, timeoutMs: 10_000 });
  try {
    return (await client.call(secretOperations.reencrypt['webhook-dispatcher'], {})).body;
  } finally {
    await client.close();
  }
};

const isSignedBy = ({ headers, raw }: Received, secret: string): boolean => {
  const [time, ...signatures] = String(headers['x-svc-signature']).split(',');
  const expected = createHmac('sha256', Buffer.from(secret))
    .update(`${time?.slice(2)}.${raw}`)
    .digest('hex');
  return signatures.includes(`v1=${expected}`);
};

test('rotating WEBHOOK_ENCRYPTION_KEY on two replicas under traffic loses no event and no signature', async () => {
  const owner = await newOwner(world);
  // Without a name, as fresh environments have it. Then with names, which nothing depends on.
  let replicas = [await start(OLD), await start(OLD)];
  const [first] = replicas as [Dispatcher, Dispatcher];
  const secret: string = (await call(first, owner, ['PUT', '', { url: world.receiver.url }])).body.signing_secret;
  const sent: string[] = [];
  let newest = first;
  const traffic = new AbortController();
  const sending = (async () => {
    while (!traffic.signal.aborted) {
      const { status, body } = await call(newest, owner, ['POST', '/test']);
      expect({ status, body }).toMatchObject({ status: 202 });
      sent.push(body.event_id);
      await waitFor(() => world.receiver.received.some(({ event }) => event.event_id === body.event_id));
    }
  })();
  const roll = async (keys: string): Promise<void> => {
    for (const old of replicas) {
      const next = await start(keys);
      replicas = [...replicas.filter((replica) => replica !== old), next];
      newest = next;
      const count = sent.length;
      await waitFor(() => sent.length > count + 1);
      await old.stop();
    }
  };
  await roll(`old:${OLD},new:${NEW}`);
  await roll(`new:${NEW},old:${OLD}`);
  expect(await reencrypt(newest)).toEqual({ reencrypted: 2, done: true });
  await roll(`new:${NEW}`);
  traffic.abort();
  await sending;
  await Promise.all(replicas.map((replica) => replica.stop()));
  const { received } = world.receiver;
  expect(new Set(received.map(({ event }) => event.event_id))).toEqual(new Set(sent));
  for (const delivery of received) expect(isSignedBy(delivery, secret)).toBe(true);
});

test('refuses to start without a key that signing secrets need, and changes nothing', async () => {
  await expect(start(`new:${OLD}`)).rejects.toThrow(/^WEBHOOK_ENCRYPTION_KEY lacks the key [0-9a-f]{16}/);
  const dispatcher = await start(`new:${OLD},old:${NEW}`);
  await dispatcher.stop();
});
