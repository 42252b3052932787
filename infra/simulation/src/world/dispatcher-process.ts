import { internalRoutes, newId, type SubscriptionSnapshot } from '@svc/contracts';
import type { PinnedAgent } from '@svc/destinations';
import { shareHints } from '@svc/messaging';
import { openSecretKeys } from '@svc/secrets';
import { Act, systemClock } from '@svc/service-kit';
import { configureWebhook } from '@svc/webhook-dispatcher/src/configurations/configure-webhook.ts';
import { createDeliveryTargets } from '@svc/webhook-dispatcher/src/configurations/index.ts';
import { startWorker } from '@svc/webhook-dispatcher/src/deliveries/index.ts';
import { findLaneBlock, recoverEvent } from '@svc/webhook-dispatcher/src/events/index.ts';
import { startConnectionConsumer, startSubscriptionConsumer } from '@svc/webhook-dispatcher/src/facts/index.ts';
import { createSecretBox } from '@svc/webhook-dispatcher/src/signatures.ts';
import { bindToProcess, createProcess, runIn, type SimulatedProcess } from '../engine/simulated-process.ts';
import { connectToBroker } from '../network/broker-client.ts';
import type { BillingProcess } from './billing-process.ts';
import type { Receivers } from './partners.ts';
import type { Surroundings } from './surroundings.ts';
import { openDatabase } from './surroundings.ts';

const POOL_MAX = 6;
const SNAPSHOT_TIMEOUT_MS = 2_000;
const SLOTS = 4;
/** Shorter than in production, so that retries happen within a run. */
const BACKOFF_BASE_MS = 300;
const PUBLIC_ADDRESS = '93.184.215.14';
/** Owner of all apps. */
const OWNER = newId('usr', 0);
const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64');

export interface DispatcherProcess {
  readonly process: SimulatedProcess;
  readonly configure: (clientId: string) => Promise<void>;
  /** Queues the event again that blocks the app, if one does. */
  readonly retry: (clientId: string) => Promise<void>;
}

interface DispatcherOptions {
  readonly name: string;
  readonly surroundings: Surroundings;
  readonly billing: () => BillingProcess | undefined;
  readonly receivers: Receivers;
}

/** Starts the dispatcher's worker and consumers. Receivers are stand-ins behind the network. */
export const startDispatcher = async (options: DispatcherOptions): Promise<DispatcherProcess> => {
  const process = createProcess(options.name);
  return runIn(process, () => start(process, options));
};

const start = (process: SimulatedProcess, options: DispatcherOptions): DispatcherProcess => {
  const { surroundings } = options;
  const { metrics, random } = surroundings;
  const { name } = process;
  const database = openDatabase(surroundings, 'webhook-dispatcher', POOL_MAX);
  const messaging = connectToBroker({ name, ...surroundings });
  const secretBox = createSecretBox(openSecretKeys('WEBHOOK_ENCRYPTION_KEY', [ENCRYPTION_KEY]));
  const destinations = { lookup: async () => [PUBLIC_ADDRESS], allowTargets: new Set<string>() };
  const worker = startWorker({
    ...destinations,
    database,
    targets: createDeliveryTargets(database, secretBox, () => undefined),
    agent: createAgent(options),
    schedule: { baseMs: BACKOFF_BASE_MS, random: random.next },
    slots: SLOTS,
    clock: systemClock,
    logger: surroundings.logger,
    metrics,
  });
  const hints = shareHints(messaging, { subject: 'lanes_due_hint.webhook-dispatcher', wake: worker.hint });
  const facts = {
    database,
    messaging,
    clock: systemClock,
    newId,
    worker: { reserve: worker.reserve, hint: hints.hint },
    billing: {
      readSnapshots: (userIds: readonly string[]) => readSnapshots(options, userIds),
      probe: async () => {
        await readSnapshots(options, []);
      },
    },
  };
  startConnectionConsumer(facts);
  startSubscriptionConsumer(facts);
  return {
    process,
    configure: async (clientId) => {
      const url = `https://${clientId.replace('_', '-')}.receivers.test/hook`;
      await configureWebhook(
        { ownerId: clientId, accountId: OWNER, url },
        new Act('webhook.configured', { organizationId: null, actorId: OWNER, source: 'console' }),
        { ...destinations, database, secretBox, clock: systemClock },
      );
    },
    retry: async (clientId) => {
      const block = await findLaneBlock(database, clientId);
      if (block !== undefined) {
        await recoverEvent(database, { ownerId: clientId, eventId: block.eventId, action: 'retry' });
      }
    },
  };
};

const readSnapshots = async (
  { name, surroundings, billing }: DispatcherOptions,
  userIds: readonly string[],
): Promise<(SubscriptionSnapshot | null)[]> => {
  let taken: BillingProcess | undefined;
  const target = () => {
    taken = billing();
    return taken?.process;
  };
  const body = { svc_user_ids: [...userIds] };
  const answer = await surroundings.network.call(
    { from: name, to: 'billing', timeoutMs: SNAPSHOT_TIMEOUT_MS, target, mayRepeat: true },
    async () => await taken?.call(internalRoutes.readSubscriptionSnapshots, { body }),
  );
  // The handler answers by the contract of this route.
  return (answer as { snapshots: (SubscriptionSnapshot | null)[] }).snapshots;
};

/** Delivers over the simulated network. */
const createAgent = ({ name, surroundings, receivers }: DispatcherOptions): PinnedAgent => ({
  post: (_checked, { body }, signal) =>
    new Promise((resolve, reject) => {
      surroundings.count('delivery');
      signal.addEventListener(
        'abort',
        bindToProcess(() => reject(signal.reason)),
        { once: true },
      );
      const options = { from: name, to: 'receivers', timeoutMs: 9_000, mayRepeat: true };
      surroundings.network.call(options, async () => receivers.receive(body)).then(resolve, reject);
    }),
  get: () => Promise.reject(new Error('nothing is fetched here')),
  openSockets: () => 0,
  destroy: () => undefined,
});
