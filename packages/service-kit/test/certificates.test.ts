import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { captureLogs, createTestAuthority, waitFor } from '@svc/testing';
import { expect, test } from 'vitest';
import { watchCertificates } from '../src/certificates.ts';
import { createMetrics } from '../src/index.ts';

const DAY_MS = 86_400_000;
const WITHOUT_TLS = { DATABASE_URL: 'postgres://x@127.0.0.1/x', NATS_URL: 'nats://127.0.0.1' };

const watch = (entrance: string, clock?: () => number) => {
  const metrics = createMetrics('auth', { isOfProcess: false });
  const logs = captureLogs();
  const { logger } = logs;
  const work = watchCertificates({
    config: WITHOUT_TLS,
    entrance,
    metrics,
    logger,
    ...(clock === undefined ? {} : { clock }),
  });
  const seconds = async () => {
    const [, value] =
      /^tls_certificate_expires_seconds\{peer="entrance",.*\} (\S+)$/m.exec((await metrics.render()).body) ?? [];
    return value === undefined ? undefined : Number(value);
  };
  return { work, seconds, logs };
};

test('reports when the certificate of the entrance ends, and keeps that while the entrance is away', async () => {
  const authority = await createTestAuthority();
  const entrance = createServer(await authority.issue({ addresses: ['127.0.0.1'], days: 30 }));
  authority.remove();
  await once(entrance.listen(0, '127.0.0.1'), 'listening');
  // A TCP listener's address is never a path.
  const { port } = entrance.address() as AddressInfo;
  let nowMs = Date.now();
  const { work, seconds, logs } = watch(`https://127.0.0.1:${port}`, () => nowMs);
  const days = async () => Math.round(((await seconds()) ?? Number.NaN) / 86_400);
  // The authority of the tests ends sooner, but is none of this deployment.
  await waitFor(async () => (await days()) === 30);
  entrance.close();
  nowMs += 31 * DAY_MS;
  work.wake();
  await waitFor(async () => (await days()) === -1);
  await work.stop();
  expect(logs.entries.map(({ message }) => message)).toEqual(['the certificate could not be read']);
});

test('reports nothing for connections without TLS', async () => {
  const { work, seconds, logs } = watch('http://127.0.0.1:1');
  await work.stop();
  expect([await seconds(), logs.entries]).toEqual([undefined, []]);
});
