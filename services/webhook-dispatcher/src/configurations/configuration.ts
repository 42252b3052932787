import type { AccountWebhook, WebhookConfiguration } from '@svc/contracts';
import type { LaneBlock } from '../events/index.ts';

/** Whose webhook it is. */
export interface WebhookOwner {
  /** An app's `client_id`, or an account's `svc_user_id`. */
  readonly ownerId: string;
  /** The account itself, or the owner of the app. */
  readonly accountId: string;
}

/** An owner's destination and its sealed secret. Within a generation only the secret changes. */
export interface Configuration extends WebhookOwner {
  readonly url: string;
  readonly generation: number;
  readonly createdAt: Date;
  readonly sealed: Buffer;
  /** Secret before the last rotation, which signs as well until it expires. */
  readonly previousSealed: Buffer | null;
  readonly previousExpiresAt: Date | null;
}

/** Previous secret of a configuration that has none. */
export const NO_PREVIOUS_SECRET = { previousSealed: null, previousExpiresAt: null } as const;

const toWireMembers = ({ url, generation, createdAt }: Configuration, block: LaneBlock | undefined) => ({
  url,
  generation,
  created_at: createdAt.toISOString(),
  state: block === undefined ? ('ok' as const) : ('blocked' as const),
  blocked_by_event_id: block?.eventId ?? null,
  paused_at: block?.pausedAt?.toISOString() ?? null,
});

export const toWireConfiguration = (
  configuration: Configuration,
  block: LaneBlock | undefined,
): WebhookConfiguration => ({ client_id: configuration.ownerId, ...toWireMembers(configuration, block) });

export const toWireAccountWebhook = (configuration: Configuration, block: LaneBlock | undefined): AccountWebhook => ({
  account_id: configuration.ownerId,
  ...toWireMembers(configuration, block),
});
