import type { SealedSecret } from '../signatures/index.ts';

/** An app's destination and its secret, as stored; each generation is written once and never changed. */
export interface Configuration {
  readonly clientId: string;
  readonly url: string;
  readonly generation: number;
  readonly createdAt: Date;
  readonly secret: SealedSecret;
}

/** The configuration as the contract writes it. */
export const toWireConfiguration = (configuration: Configuration, blockedByEventId: string | undefined) => {
  return {
    client_id: configuration.clientId,
    url: configuration.url,
    generation: configuration.generation,
    created_at: configuration.createdAt.toISOString(),
    state: blockedByEventId === undefined ? ('ok' as const) : ('blocked' as const),
    blocked_by_event_id: blockedByEventId ?? null,
  };
};
