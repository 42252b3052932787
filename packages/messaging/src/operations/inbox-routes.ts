import {
  type ConsumerHealth,
  type ConsumingService,
  type DeadLetter,
  type DeadLetterOutcome,
  inboxOperations,
} from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { Messaging } from '../connection/connect-messaging.ts';
import { askBroker } from '../connection/connect-messaging.ts';
import {
  countDeadLetters,
  findDeadLetterConsumer,
  findDeadLetterForUpdate,
  listDeadLetters,
  type StoredDeadLetter,
  updateDeadLetterResolved,
} from '../inbox/dead-letter-queries.ts';
import { insertInbox } from '../inbox/queries.ts';
import type { Consumer } from '../inbox/start-consumer.ts';

/** Resolves a dead letter without handling it; its row stays. Returns undefined for an unknown id. */
const discardDeadLetter = async (database: Knex, id: string): Promise<DeadLetterOutcome | undefined> => {
  return await database.transaction(async (trx) => {
    const letter = await findDeadLetterForUpdate(trx, id);
    if (letter === undefined) return undefined;
    if (letter.resolved_at !== null) return { id, outcome: 'already_resolved', error_code: null };
    await updateDeadLetterResolved(trx, id);
    // A consumer that reads its stream again passes it over.
    if (letter.event_id !== null) await insertInbox(trx, letter.consumer, [letter.event_id]);
    return { id, outcome: 'discarded', error_code: null };
  });
};

const COUNTED_MAX = 100_000;

export interface InboxRoutesDeps {
  readonly service: ConsumingService;
  readonly database: Knex;
  readonly messaging: Messaging;
  /** Called on each request, because consumers may start after the application. */
  readonly consumers: () => readonly Consumer[];
}

/** Routes of the internal port over consumers and dead letters, for operators. */
export const inboxRoutes = (deps: InboxRoutesDeps): Binding[] => {
  const { database, service } = deps;
  const routes = inboxOperations[service];
  return [
    bind(routes.listConsumers, async () => ({
      status: 200,
      body: {
        data: await readConsumers(deps),
        dead_letters: await countDeadLetters(database, { countedMax: COUNTED_MAX }),
      },
    })),
    bind(routes.listDeadLetters, async ({ query: { after = '0', limit } }) => {
      const found = await listDeadLetters(database, { after, limit: limit + 1 });
      return { status: 200, body: { data: found.slice(0, limit).map(toWire), has_more: found.length > limit } };
    }),
    bind(routes.replayDeadLetter, async ({ params: { id } }) => {
      const consumer = await findConsumer(deps, id);
      return { status: 200, body: await consumer.replay(id) };
    }),
    bind(routes.discardDeadLetter, async ({ params: { id } }) => {
      const outcome = await discardDeadLetter(database, id);
      if (outcome === undefined) throw new AppError('not_found');
      return { status: 200, body: outcome };
    }),
  ];
};

const readConsumers = async ({ messaging, consumers }: InboxRoutesDeps): Promise<ConsumerHealth[]> => {
  const places = consumers().flatMap(({ name, streams }) => streams.map((stream) => ({ consumer: name, stream })));
  return await Promise.all(
    places.map(async ({ consumer, stream }) => {
      const info = await askBroker(messaging, () => messaging.manager.consumers.info(stream, consumer));
      return {
        consumer,
        stream,
        waiting: info?.num_pending ?? null,
        unacknowledged: info?.num_ack_pending ?? null,
        redelivered: info?.num_redelivered ?? null,
      };
    }),
  );
};

const findConsumer = async ({ database, consumers }: InboxRoutesDeps, id: string): Promise<Consumer> => {
  const name = await findDeadLetterConsumer(database, id);
  const consumer = consumers().find((candidate) => candidate.name === name);
  // The dead letters of a consumer that no longer exists can only be discarded.
  if (consumer === undefined) throw new AppError('not_found');
  return consumer;
};

const toWire = ({
  payload: _payload,
  resolved_at: _resolvedAt,
  created_at,
  ...shown
}: StoredDeadLetter): DeadLetter => ({ ...shown, created_at: created_at.toISOString() });
