import { join } from 'node:path';
import { newId, REVOCATION_SUBJECT_PREFIX, REVOCATIONS_STREAM } from '@svc/contracts';
import { connectToBroker } from '@svc/messaging/broker';
import { scratchDirectory } from '@svc/testing/servers';
import { createInbox, type NatsConnection } from 'nats';
import { startNode } from '../harness/node-process.ts';
import { printTable, say } from '../harness/report.ts';
import { foreignShare } from '../harness/resources.ts';
import { startBroker } from '../harness/start-broker.ts';
import { median } from '../harness/statistics.ts';
import type { LoadedView } from './view-process.ts';

const ENTRIES = Number(process.env['BENCH_ENTRIES'] ?? 1_000_000);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const UNACKNOWLEDGED_MAX = 2_000;
const VIEW_PROCESS = join(import.meta.dirname, 'view-process.ts');

/** Measures how long a process that starts takes to load the entries of a full bucket, and the memory that they take. */
export const measureLoadOfEntries = async (): Promise<void> => {
  const scratch = await scratchDirectory();
  // Loading only reads. Entries that are synced one by one would take a quarter of an hour to publish.
  const broker = await startBroker(join(scratch.path, 'nats'), 1, { isSynced: false });
  try {
    const connection = await connectToBroker({ url: broker.natsUrlOf('operator'), name: 'operator' });
    const seconds = await publishEntries(connection);
    const manager = await connection.jetstreamManager();
    const { state } = await manager.streams.info(REVOCATIONS_STREAM);
    await connection.close();
    say(
      `${state.messages} entries, ${Math.round(state.bytes / 1e6)} MB in NATS, published in ${seconds.toFixed(0)} s.`,
    );
    const views: LoadedView[] = [];
    const foreign = await foreignShare();
    for (let round = 0; round < ROUNDS; round += 1) {
      const env = { NATS_URL: broker.natsUrlOf('billing'), ENTRIES: String(state.messages) };
      const child = await startNode(VIEW_PROCESS, env, {
        logFile: join(scratch.path, `${round}.log`),
        flags: ['--expose-gc'],
      });
      // Sent by this package's own script.
      views.push((await child.message()) as LoadedView);
      await child.succeed();
    }
    const of = (figure: keyof LoadedView): number => median(views.map((view) => view[figure]));
    say(`Loaded by a new process, medians of ${ROUNDS}; foreign CPU share ${foreign.toFixed(2)}:\n`);
    printTable(
      ['entries', 'seconds', 'CPU us/entry', 'longest stall ms', 'heap MB', 'resident MB', 'peak MB'],
      [
        [
          String(state.messages),
          of('seconds'),
          of('cpuSeconds') * (1e6 / state.messages),
          of('stallMs'),
          of('heapMegabytes'),
          of('residentMegabytes'),
          of('peakMegabytes'),
        ],
      ],
    );
  } finally {
    for (const server of broker.servers) await server.stop();
    scratch.remove();
  }
};

/** Publishes grants, sessions and ranges of accounts as a day of disconnects and sign-outs would. Returns the seconds taken. */
const publishEntries = async (connection: NatsConnection): Promise<number> => {
  const inbox = createInbox();
  const startedAt = performance.now();
  let acknowledged = 0;
  let wake = (): void => undefined;
  const subscription = connection.subscribe(inbox, {
    callback: () => {
      acknowledged += 1;
      wake();
    },
  });
  const untilFewerThan = async (outstanding: number, published: number): Promise<void> => {
    while (published - acknowledged >= outstanding) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  for (let published = 0; published < ENTRIES; published += 1) {
    await untilFewerThan(UNACKNOWLEDGED_MAX, published);
    const [key, value] = entryOf(published);
    connection.publish(`${REVOCATION_SUBJECT_PREFIX}${key}`, JSON.stringify(value), { reply: inbox });
  }
  await untilFewerThan(1, ENTRIES);
  subscription.unsubscribe();
  return (performance.now() - startedAt) / 1000;
};

const entryOf = (number: number): [string, object] => {
  if (number % 4 === 0) return [`session.${newId('ses')}`, {}];
  if (number % 4 === 1) return [`account.${newId('usr')}`, { revoked_through: newId('ses') }];
  return [`grant.${newId('grt')}`, {}];
};
