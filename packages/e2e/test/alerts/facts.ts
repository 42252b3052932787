import { randomUUID } from 'node:crypto';
import { newId } from '@svc/contracts';
import type { Product } from './product.ts';

/** A fact on its way between services. */
export interface Fact {
  readonly id: string;
  readonly subject: string;
  readonly [field: string]: unknown;
}

const fact = (subject: string, aggregate: string, data: unknown): Fact => ({
  ...{ id: randomUUID(), subject, aggregate, version: 1 },
  ...{ occurred_at: new Date().toISOString(), data },
});

/** Usage of a request that no billing has admitted. */
export const usageFact = (used: { userId: string; keyId: string; costMicros: number }): Fact =>
  fact('inference.usage.recorded.v1', `usage:${randomUUID()}`, {
    records: [
      {
        ...{ request_id: newId('req'), kind: 'api_key', svc_user_id: used.userId, client_id: null, key_id: used.keyId },
        ...{ service: 'chat', outcome: 'settled', cost_micros: used.costMicros },
        ...{ input_tokens: 1, output_tokens: 1, audio_ms: null, finished_at: new Date().toISOString() },
      },
    ],
  });

/** A connection of a user and an app that nobody has heard of before. */
export const connectionFact = (): Fact => {
  const [userId, clientId] = [newId('usr'), newId('app')];
  return fact('auth.connection.created.v1', `connection:${userId}:${clientId}`, {
    ...{ svc_user_id: userId, client_id: clientId, grant_id: newId('grt'), scope: 'inference' },
    connected_at: new Date().toISOString(),
  });
};

/** Publishes a fact as the relay of a service does. */
export const publishFact = async (product: Product, { subject, ...rest }: Fact): Promise<void> => {
  await product.nats.jetstream().publish(subject, JSON.stringify({ subject, ...rest }), { msgID: rest.id });
};
