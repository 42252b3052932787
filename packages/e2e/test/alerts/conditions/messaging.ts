import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { newId } from '@svc/contracts';
import { connectToBroker } from '@svc/messaging/broker';
import { waitFor } from '@svc/testing';
import { registerApp, signUp } from '../../support/people.ts';
import type { Condition } from '../condition.ts';
import { connectionFact, publishFact, usageFact } from '../facts.ts';
import { type Product, times } from '../product.ts';

const WAIT_MS = 30_000;
const OVERDUE_SECONDS = 75;
/** Above the alert's threshold of ten thousand. */
const WAITING = 10_050;
/** Each is retried at once, then after a quarter of a second, one second and five seconds. */
const RETRIED = 150;
const RETRY_MINUTES = [0, 8, 16];
/** The advisory lock that one relay per service holds. */
const RELAY_LOCK = 7_348_101_668;

const until = (condition: () => Promise<boolean>) =>
  waitFor(async () => (await condition()) || undefined, { timeoutMs: WAIT_MS });

/** NATS is down: events wait in the outbox, and revocations do not arrive. */
export const brokerThatIsGone = (): Condition => {
  let holder: Server | undefined;
  return {
    alerts: ['OutboxStuck', 'RevocationsDisconnected'],
    async begin(product) {
      const { processes } = await product.stack();
      const { port } = new URL(processes['nats']?.url ?? '');
      process.kill(processes['nats']?.pid ?? 0, 'SIGKILL');
      // The supervisor restarts NATS as soon as its port is free.
      holder = await listenOn(Number(port));
      await registerApp(await signUp('business'));
      const late = `UPDATE outbox SET occurred_at = occurred_at - make_interval(secs => ${OVERDUE_SECONDS}) WHERE published_at IS NULL`;
      await product.sql('auth', late);
      await until(async () => (await product.watch.read('auth', 'outbox_oldest_unpublished_seconds')) > 60);
      await until(async () => (await product.watch.read('billing', 'revocations_connected')) === 0);
    },
    async end(product) {
      holder?.close();
      for (const service of ['billing', 'inference-gateway', 'webhook-dispatcher']) {
        await until(async () => (await product.watch.read(service, 'revocations_connected')) === 1);
      }
    },
  };
};

/** Takes a port as soon as it is free and closes every connection. */
const listenOn = async (port: number): Promise<Server> => {
  for (;;) {
    const server = createServer((socket) => socket.destroy());
    const isOurs = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (isOurs) return server;
  }
};

/** The relay's lock is held by an orphaned connection. */
export const relayLockThatIsTaken = (): Condition => {
  let release = async (): Promise<void> => undefined;
  return {
    alerts: ['OutboxWithoutRelay'],
    async begin(product) {
      // Queued before the relay is terminated, so that it cannot take the lock again.
      const taken = product.hold('billing', `SELECT pg_advisory_xact_lock(${RELAY_LOCK})`);
      const waits = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
      await until(async () => ((await product.sql('billing', waits)).rowCount ?? 0) > 0);
      const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'billing-relay'";
      await product.sql('billing', end);
      release = await taken;
      await until(async () => (await product.watch.read('billing', 'outbox_relay_leading')) === 0);
    },
    end: () => release(),
  };
};

/** A stream lost with its acknowledged messages. */
export const streamThatIsLost: Condition = {
  alerts: ['OutboxRepublished'],
  async begin(product) {
    const seen = () => product.watch.read('auth', 'outbox_republished_total', { stream: 'AUTH' });
    const before = await seen();
    await (await product.nats.jetstreamManager()).streams.delete('AUTH');
    const { nats_urls: urls } = await product.stack();
    const replica = await connectToBroker({ url: urls['auth'] ?? '', name: 'auth' });
    replica.publish('outbox_reconcile.auth');
    await replica.drain();
    await until(async () => (await seen()) > before);
    // Facts that are published again are old while they wait.
    await until(async () => (await product.watch.read('auth', 'outbox_oldest_unpublished_seconds')) === 0);
  },
};

/** A stream whose size barely holds its messages. */
export const streamThatFills = (): Condition => {
  const stream = 'KV_revocations';
  let before = 0;
  const resize = async (product: Product, max_bytes: number): Promise<void> => {
    await (await product.nats.jetstreamManager()).streams.update(stream, { max_bytes });
  };
  /** Fills as each service has measured them, at its own times. */
  const fills = (product: Product): Promise<number[]> =>
    Promise.all(
      ['auth', 'inference-gateway'].map(
        async (service) =>
          (await product.watch.read(service, 'stream_bytes', { stream })) /
          (await product.watch.read(service, 'stream_bytes_max', { stream })),
      ),
    );
  return {
    alerts: ['StreamFilling'],
    async begin(product) {
      const { state, config } = await (await product.nats.jetstreamManager()).streams.info(stream);
      before = config.max_bytes;
      await resize(product, Math.ceil(state.bytes * 1.2));
      await until(async () => (await fills(product)).every((fill) => fill > 0.7));
    },
    async end(product) {
      await resize(product, before);
      await until(async () => (await fills(product)).every((fill) => fill < 0.7));
    },
  };
};

/** A dispatcher consumer that fails on every message because its tables refuse access. */
export const consumerThatFails = (): Condition => {
  const retried = (product: Product) =>
    product.watch.read('webhook-dispatcher', 'messages_consumed_total', { outcome: 'retried' });
  return {
    alerts: ['MessagesRetried'],
    async begin(product) {
      await product.sql('webhook-dispatcher', 'REVOKE ALL ON inbox FROM CURRENT_USER');
    },
    async eachMinute(product, minute) {
      if (!RETRY_MINUTES.includes(minute)) return;
      const before = await retried(product);
      await times(RETRIED, 8, () => publishFact(product, connectionFact()));
      await until(async () => (await retried(product)) >= before + RETRIED);
    },
    async end(product) {
      await product.sql('webhook-dispatcher', 'GRANT ALL ON inbox TO CURRENT_USER');
    },
  };
};

/** Billing cannot read subscriptions, for which the dispatcher asks when a user connects an app. */
export const subscriptionsThatCannotBeRead: Condition = {
  alerts: ['ConsumerPaused'],
  async begin(product) {
    await product.sql('billing', 'REVOKE ALL ON subscriptions FROM CURRENT_USER');
    await publishFact(product, connectionFact());
    const paused = { consumer: 'webhook-dispatcher_connections', requirement: 'dependency' };
    await until(async () => (await product.watch.read('webhook-dispatcher', 'consumer_paused', paused)) === 1);
  },
  async end(product) {
    await product.sql('billing', 'GRANT ALL ON subscriptions TO CURRENT_USER');
  },
};

/** A stalled consumer while events arrive, one of which becomes a dead letter. */
export const consumerThatStands = (): Condition => {
  let release = async (): Promise<void> => undefined;
  return {
    alerts: ['MessagesWaiting'],
    async begin(product) {
      release = await product.hold('billing', 'LOCK TABLE inbox IN EXCLUSIVE MODE');
      const used = { userId: newId('usr'), keyId: newId('key'), costMicros: 1 };
      await times(WAITING, 256, () => publishFact(product, usageFact(used)));
      await until(
        async () => (await product.watch.read('billing', 'messages_waiting', { consumer: 'billing_usage' })) > 10_000,
      );
    },
    async end(product) {
      // The filler messages have no further use.
      await (await product.nats.jetstreamManager()).streams.purge('INFERENCE');
      await release();
    },
  };
};

/** A fact whose version the dispatcher has handled, as after a restore without an epoch. */
export const factOfTheEarlierState: Condition = {
  alerts: ['FactsDropped'],
  async begin(product) {
    const consumer = 'webhook-dispatcher_connections';
    const read = (metric: string, labels: Record<string, string>) =>
      product.watch.read('webhook-dispatcher', metric, { consumer, ...labels });
    const handled = () => read('messages_consumed_total', { outcome: 'handled' });
    const dropped = () => read('facts_dropped_total', {});
    const fact = connectionFact();
    const before = { handled: await handled(), dropped: await dropped() };
    await publishFact(product, fact);
    await until(async () => (await handled()) > before.handled);
    await publishFact(product, { ...fact, id: randomUUID() });
    await until(async () => (await dropped()) > before.dropped);
  },
};

/** A database that was restored, and whose epoch began. */
export const restoredDatabase: Condition = {
  alerts: ['EpochBegan'],
  async begin(product) {
    await product.sql('auth', 'INSERT INTO epochs (epoch, restored_to) VALUES (uuidv7(), now())');
    await until(async () => (await product.watch.read('auth', 'outbox_epochs_recent')) > 0);
  },
};

/** A malformed message. */
export const unreadableMessage: Condition = {
  alerts: ['DeadLetters'],
  async begin(product) {
    await product.nats.jetstream().publish('auth.connection.created.v1', '{}');
    await until(async () => (await product.watch.read('webhook-dispatcher', 'dead_letters_unresolved')) > 0);
  },
};
