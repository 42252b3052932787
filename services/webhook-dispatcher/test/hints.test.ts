import { connectMessaging } from '@svc/messaging';
import { createLogger } from '@svc/service-kit';
import { testNats, waitFor } from '@svc/testing';
import { expect, test } from 'vitest';
import { shareHints } from '../src/deliveries/index.ts';

test('a hint of one replica wakes each of the others, and many at once wake them seldom', async () => {
  const nats = await testNats();
  const logger = createLogger({ service: 'webhook-dispatcher', level: 'silent' });
  const replicas = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const url = nats.urlOf('webhook-dispatcher');
      const messaging = await connectMessaging({ url, name: 'webhook-dispatcher', logger });
      const woken = { count: 0 };
      const hints = shareHints(messaging, () => {
        woken.count += 1;
      });
      await messaging.connection.flush();
      return { messaging, woken, hints };
    }),
  );
  const [storing, ...others] = replicas;
  storing?.hints.hint();
  expect(storing?.woken.count).toBe(1);
  await waitFor(() => others.every(({ woken }) => woken.count === 1));
  for (let index = 0; index < 1_000; index += 1) storing?.hints.hint();
  await waitFor(() => others.every(({ woken }) => woken.count > 1));
  await storing?.messaging.connection.flush();
  expect(storing?.woken.count).toBe(1_001);
  for (const { woken } of others) expect(woken.count).toBeLessThan(1_000);

  await nats.kill();
  await waitFor(() => storing?.messaging.isConnected() === false);
  storing?.hints.hint();
  expect(storing?.woken.count).toBe(1_002);
  await nats.start();
  await waitFor(() => replicas.every(({ messaging }) => messaging.isConnected()));
  const before = others.map(({ woken }) => woken.count);
  await waitFor(
    () => {
      storing?.hints.hint();
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
