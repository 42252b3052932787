import {
  consumingServices,
  inboxOperations,
  type OutboxHealth,
  outboxOperations,
  publishingServices,
  serviceOperations,
} from '@svc/contracts';
import { type Command, type CommandContext, printTable } from '../command.ts';

/** Seconds that a fact may wait before it counts as delayed: the relay polls four times a second. */
const WAIT_SECONDS_MAX = 30;
/** The alert StreamFilling has the same bound. */
const FILL_MAX = 0.7;
const NOTHING_YET = '(no metrics yet)';

/** Commands that show the state of the product. Exit code 1 if something needs attention. */
export const statusCommands: readonly Command[] = [
  {
    words: ['status'],
    usage: '',
    about: 'outboxes, consumers, dead letters, deliveries; 1 if something needs attention',
    run: async (context) => {
      const healthy = [await showOutboxes(context), await showConsumers(context), await showLanes(context)];
      return healthy.every(Boolean);
    },
  },
];

const showOutboxes = async ({ call, print }: CommandContext): Promise<boolean> => {
  const found = await Promise.all(
    publishingServices.map(async (service) => ({
      service,
      health: await call(outboxOperations[service].getOutboxHealth, {}),
    })),
  );
  printTable(
    print,
    ['OUTBOX', 'STREAM', 'UNPUBLISHED', 'ACKNOWLEDGED', 'STREAM ENDS', 'IN STEP', 'FULL'],
    found.flatMap(({ service, health: { streams } }) =>
      streams.length === 0
        ? [[service, NOTHING_YET, 0, null, null, null, null]]
        : streams.map((stream) => [service, ...rowOf(stream)]),
    ),
  );
  return found.every(
    ({ health }) =>
      health.broker_connected &&
      health.oldest_unpublished_seconds < WAIT_SECONDS_MAX &&
      health.streams.every((stream) => stream.in_step !== false && (fillOf(stream) ?? 0) < FILL_MAX),
  );
};

const rowOf = (stream: OutboxHealth['streams'][number]) => [
  ...[stream.stream, stream.unpublished],
  ...[stream.acknowledged_through, stream.stream_ends_at, stream.in_step],
  percent(fillOf(stream)),
];

/** Share of the stream's size that is used; null if the broker cannot be reached. */
const fillOf = ({ bytes, bytes_max }: OutboxHealth['streams'][number]): number | null =>
  bytes === null || bytes_max === null ? null : bytes / bytes_max;

const percent = (share: number | null): string | null => (share === null ? null : `${Math.round(share * 100)} %`);

const showConsumers = async ({ call, print }: CommandContext): Promise<boolean> => {
  const found = await Promise.all(
    consumingServices.map(async (service) => ({
      service,
      ...(await call(inboxOperations[service].listConsumers, {})),
    })),
  );
  print('');
  printTable(
    print,
    ['CONSUMER', 'STREAM', 'WAITING', 'UNACKNOWLEDGED', 'REDELIVERED'],
    found.flatMap(({ data }) =>
      data.map((row) => [row.consumer, row.stream, row.waiting, row.unacknowledged, row.redelivered]),
    ),
  );
  print('');
  printTable(
    print,
    ['DEAD LETTERS', 'UNRESOLVED'],
    found.map(({ service, dead_letters }) => [service, dead_letters]),
  );
  return found.every(({ dead_letters }) => dead_letters === 0);
};

const showLanes = async ({ call, print }: CommandContext): Promise<boolean> => {
  const lanes = await call(serviceOperations.getLaneHealth, { query: { limit: 100 } });
  print('');
  print(
    `WEBHOOKS  ${lanes.due} due, the oldest for ${Math.round(lanes.oldest_due_seconds)} s; ${lanes.blocked} blocked`,
  );
  for (const { owner_id, event_id, sequence } of lanes.data) print(`  ${owner_id} by ${event_id} (${sequence})`);
  if (lanes.has_more) print('  …');
  return lanes.oldest_due_seconds < WAIT_SECONDS_MAX;
};
