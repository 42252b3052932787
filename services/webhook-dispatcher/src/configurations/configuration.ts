import type { WebhookConfiguration } from '@svc/contracts';
import type { SealedSecret } from '../signatures/index.ts';

/** An app's destination and its sealed secret. A generation is written once and never changed. */
export interface Configuration extends SealedSecret {
  readonly clientId: string;
  readonly url: string;
  readonly generation: number;
  readonly createdAt: Date;
}

export const toWireConfiguration = (
  { clientId, url, generation, createdAt }: Configuration,
  blockedByEventId: string | undefined,
): WebhookConfiguration => ({
  client_id: clientId,
  url,
  generation,
  created_at: createdAt.toISOString(),
  state: blockedByEventId === undefined ? 'ok' : 'blocked',
  blocked_by_event_id: blockedByEventId ?? null,
});
