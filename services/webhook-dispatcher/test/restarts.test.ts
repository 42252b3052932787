import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@svc/contracts';
import { createDatabase, migrate } from '@svc/database';
import { waitFor } from '@svc/testing';
import { freePort, scratchDirectory, startPostgres } from '@svc/testing/servers';
import { expect, test } from 'vitest';
import { MIGRATIONS, publishFact, seedApps, seedEvents, startDispatcher, startWorld } from './support/dispatcher.ts';
import { startWorkerProcess } from './support/worker-process.ts';

const APPS = 20;
const EVENTS_PER_APP = 60;

test('events arrive in order and without a gap while PostgreSQL is stopped and killed and NATS is killed', {
  timeout: 120_000,
}, async () => {
  const scratch = await scratchDirectory();
  const options = {
    dataDir: `${scratch.path}/postgres`,
    port: await freePort(),
    user: 'svc_test',
    password: randomBytes(12).toString('hex'),
    flags: { fsync: 'off', full_page_writes: 'off' },
  };
  let postgres = await startPostgres(options);
  await migrate({ url: postgres.url, directory: MIGRATIONS });
  const started = await startWorld();
  const knex = createDatabase(postgres.url, { applicationName: 'svc-test' });
  const world = { ...started, database: { url: postgres.url, knex, drop: started.database.drop } };
  world.receiver.otherwise = (response) => setTimeout(() => response.writeHead(204).end(), 5);
  const workers = await Promise.all([0, 1].map(() => startWorkerProcess(world, { LOG_LEVEL: 'info' })));
  const inProcess = await startDispatcher(world, { env: { LOG_LEVEL: 'info' } });
  const clientIds = await seedApps(world, APPS);
  const seed = async (rounds: number): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) await seedEvents(world, clientIds);
  };

  await seed(20);
  await postgres.stop();
  await sleep(500);
  postgres = await startPostgres(options);
  await waitFor(() => seed(1).then(() => true), { timeoutMs: 10_000, intervalMs: 200 });
  await seed(19);
  await postgres.kill();
  await world.nats.kill();
  postgres = await startPostgres(options);
  await world.nats.start();
  await waitFor(() => seed(1).then(() => true), { timeoutMs: 10_000, intervalMs: 200 });
  await seed(18);
  const userId = newId('usr');
  const [connected = ''] = clientIds;
  await waitFor(
    async () => {
      await publishFact(world, {
        subject: 'auth.connection.created.v1',
        aggregate: `connection:${userId}:${connected}`,
        version: 1,
        data: {
          svc_user_id: userId,
          client_id: connected,
          grant_id: newId('grt'),
          scope: 'inference',
          connected_at: '2026-11-20T10:00:00.000Z',
        },
      });
      return true;
    },
    { timeoutMs: 20_000, intervalMs: 200 },
  );
  await seed(1);

  const open = () => knex('lanes').whereRaw('done_sequence < last_sequence').count();
  await waitFor(async () => Number((await knex('events').count())[0]?.['count']) === APPS * EVENTS_PER_APP + 1);
  await waitFor(async () => Number((await open())[0]?.['count']) === 0, { timeoutMs: 60_000, intervalMs: 100 });
  const first = new Map<string, number[]>();
  for (const { event } of world.receiver.received) {
    const seen = first.get(event.integration_id) ?? [];
    if (!seen.includes(event.sequence)) first.set(event.integration_id, [...seen, event.sequence]);
  }
  for (const clientId of clientIds) {
    const count = clientId === connected ? EVENTS_PER_APP + 1 : EVENTS_PER_APP;
    expect(first.get(clientId)).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  }
  expect(await Promise.all(workers.map((worker) => worker.stop()))).toEqual([0, 0]);
  await inProcess.stop();
  await knex.destroy();
  await started.stop();
  await postgres.stop();
  scratch.remove();
});
