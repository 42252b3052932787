import { captureLogs, waitFor } from '@svc/testing';
import { expect, test } from 'vitest';
import { connectMessaging, shareHints } from '../src/index.ts';
import { testNats } from '../src/testing/test-nats.ts';

const REPLICAS = ['first', 'second', 'third'];

test('wakes its own replica for each hint, and the others with fewer messages, also after a crash of NATS', async () => {
  const nats = await testNats({ own: true });
  const replicas = await Promise.all(
    REPLICAS.map(async (name) => {
      const messaging = await connectMessaging({ url: nats.url, name, logger: captureLogs().logger });
      const woken = { count: 0 };
      const wake = () => {
        woken.count += 1;
      };
      const hints = shareHints(messaging, { subject: 'lanes_due_hint.webhook-dispatcher', wake });
      await messaging.connection.flush();
      return { messaging, woken, hints };
    }),
  );
  const [first, ...others] = replicas;
  first?.hints.hint();
  expect(first?.woken.count).toBe(1);
  await waitFor(() => others.every(({ woken }) => woken.count === 1));
  for (let index = 0; index < 1_000; index += 1) first?.hints.hint();
  await waitFor(() => others.every(({ woken }) => woken.count > 1));
  await first?.messaging.connection.flush();
  expect(first?.woken.count).toBe(1_001);
  for (const { woken } of others) expect(woken.count).toBeLessThan(1_000);

  await nats.kill();
  await waitFor(() => first?.messaging.isConnected() === false);
  first?.hints.hint();
  expect(first?.woken.count).toBe(1_002);
  await nats.start();
  await waitFor(() => replicas.every(({ messaging }) => messaging.isConnected()));
  const before = others.map(({ woken }) => woken.count);
  await waitFor(
    () => {
      first?.hints.hint();
      return others.every(({ woken }, index) => woken.count > (before[index] ?? 0));
    },
    { timeoutMs: 10_000, intervalMs: 50 },
  );
  for (const { hints, messaging } of replicas) {
    hints.stop();
    await messaging.close();
  }
  await nats.stop();
});
