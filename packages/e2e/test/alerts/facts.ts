import { randomUUID } from 'node:crypto';
import { newId } from '@svc/contracts';
import type { Product } from './product.ts';

/** An event between services. */
export interface Fact {
  readonly id: string;
  readonly subject: string;
  readonly [field: string]: unknown;
}

const fact = (subject: string, aggregate: string, data: unknown): Fact => ({
  id: randomUUID(),
  subject,
  aggregate,
  version: 1,
  occurred_at: new Date().toISOString(),
  data,
});

/** Creates usage of a request that was never admitted. */
export const usageFact = (used: { userId: string; keyId: string; costMicros: number }): Fact =>
  fact('inference.usage.recorded.v1', `usage:${randomUUID()}`, {
    records: [
      {
        request_id: newId('req'),
        kind: 'api_key',
        svc_user_id: used.userId,
        client_id: null,
        key_id: used.keyId,
        service: 'chat',
        outcome: 'settled',
        cost_micros: used.costMicros,
        input_tokens: 1,
        output_tokens: 1,
        audio_ms: null,
        started_at: new Date().toISOString(),
        finished_at: new Date().toISOString(),
      },
    ],
  });

/** Creates a connection of a new user and a new app. */
export const connectionFact = (): Fact => {
  const userId = newId('usr');
  const clientId = newId('app');
  return fact('auth.connection.created.v1', `connection:${userId}:${clientId}`, {
    svc_user_id: userId,
    client_id: clientId,
    grant_id: newId('grt'),
    scope: 'inference',
    connected_at: new Date().toISOString(),
  });
};

/** Publishes an event as a service's relay does. */
export const publishFact = async (product: Product, { subject, ...rest }: Fact): Promise<void> => {
  await product.nats.jetstream().publish(subject, JSON.stringify({ subject, ...rest }), { msgID: rest.id });
};
