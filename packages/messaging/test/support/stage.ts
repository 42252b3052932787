import { captureLogs, testDatabase, testNats } from '@svc/testing';
import { connectMessaging, type Messaging, type MessagingMetrics, type Relay, startRelay } from '../../src/index.ts';

/** A database and a NATS server with the parts that a test starts on them. */
export type Stage = Awaited<ReturnType<typeof createStage>>;

export const createStage = async () => {
  const database = await testDatabase({ migrations: `${import.meta.dirname}/../migrations` });
  const nats = await testNats({ own: true });
  const logs = captureLogs();
  const open = new Set<{ stop(): Promise<void> }>();
  const keep = <T extends { stop(): Promise<void> }>(part: T): T => {
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
    },
    async end() {
      for (const part of [...open].reverse()) await part.stop();
      await nats.stop();
      await database.drop();
    },
  };
};
