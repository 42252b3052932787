import type { WebhookConfiguration } from '@svc/contracts';
import type { SealedSecret } from '../signatures/index.ts';

/** An app's destination and its sealed secret. Within a generation only the secret changes. */
export interface Configuration extends SealedSecret {
  readonly clientId: string;
  readonly url: string;
  readonly generation: number;
  readonly createdAt: Date;
  /** Secret before the last rotation, which signs as well until it expires. */
  readonly previousKeyId: string | null;
  readonly previousSealed: Buffer | null;
  readonly previousExpiresAt: Date | null;
}

/** Previous secret of a configuration that has none. */
export const NO_PREVIOUS_SECRET = { previousKeyId: null, previousSealed: null, previousExpiresAt: null } as const;

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
