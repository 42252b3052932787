import { durables as contractDurables } from '@svc/contracts';
import { testDatabase } from '@svc/database/testing';
import { captureLogs } from '@svc/testing';
import { connectMessaging, type Messaging, type MessagingMetrics, type Relay, startRelay } from '../../src/index.ts';
import { testNats } from '../../src/testing/test-nats.ts';

/** A database and a NATS server with the parts that a test starts on them. */
export type Stage = Awaited<ReturnType<typeof createStage>>;

const STREAM = 'AUTH';
const SUBJECTS = ['auth.app.registered.v1', 'auth.app.updated.v1'];

/** Creates durable consumers of facts about apps as well; `ackWaitsMs` overrides the acknowledgement wait of some. */
export const createStage = async (
  durables: readonly string[] = [],
  ackWaitsMs: Readonly<Record<string, number>> = {},
) => {
  const database = await testDatabase({ migrations: `${import.meta.dirname}/../migrations` });
  const own = durables.map((name) => ({ name, stream: STREAM, subjects: SUBJECTS, ackWaitMs: ackWaitsMs[name] }));
  // A stream drops facts without a consumer, and a relay publishes as soon as those of the event table exist.
  const nats = await testNats({ own: true, durables: [...own, ...contractDurables] });
  const logs = captureLogs();
  const open = new Set<{ stop: () => Promise<void> }>();
  const keep = <T extends { stop: () => Promise<void> }>(part: T): T => {
    open.add(part);
    return part;
  };
  const connect = async (name = 'test', metrics?: MessagingMetrics): Promise<Messaging> => {
    const messaging = await connectMessaging({ url: nats.url, name, logger: logs.logger, metrics });
    open.add({ stop: () => messaging.close() });
    return messaging;
  };
  return {
    database,
    knex: database.knex,
    nats,
    logs,
    connect,
    keep,
    relay: (messaging: Messaging): Relay => keep(startRelay({ databaseUrl: database.url, messaging, service: 'auth' })),
    /** Stops the parts that the test started, newest first, and empties tables and streams. */
    async reset() {
      for (const part of [...open].reverse()) await part.stop();
      open.clear();
      await nats.wipe();
      await database.knex.raw('TRUNCATE outbox, outbox_streams, inbox, inbox_versions, dead_letters, app, effect');
      await database.knex('epochs').whereNotNull('restored_to').delete();
    },
    async end() {
      for (const part of [...open].reverse()) await part.stop();
      await nats.stop();
      await database.drop();
    },
  };
};
