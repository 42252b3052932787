import type { Knex } from 'knex';
import { GAP_QUICK_DELIVERIES } from './failure.ts';
import type { Delivery } from './parse-message.ts';
import { findVersion, upsertVersion } from './queries.ts';

/**
 * Of an aggregate never seen, earlier versions may have expired from the stream: they are waited for over this many
 * deliveries (nearly 30 s), which is longer than a crashed replica keeps a message to itself.
 */
const UNSEEN_DELIVERIES = GAP_QUICK_DELIVERIES + 4;

/** An earlier version of the aggregate has not been handled yet. */
export class VersionGap extends Error {
  override readonly name = 'VersionGap';
}

/**
 * Whether a fact is next in its aggregate, in the handling transaction: `stale` when a newer version was handled. Throws
 * VersionGap while an earlier one is missing, until that has had its last delivery, by which it is handled or parked.
 */
export const takeTurn = async (
  trx: Knex.Transaction,
  { consumer, maxDeliver }: { readonly consumer: string; readonly maxDeliver: number },
  { event, meta }: Delivery,
): Promise<'next' | 'stale'> => {
  const { aggregate, version } = event;
  const handled = await findVersion(trx, consumer, aggregate);
  if (handled !== undefined && version < handled) return 'stale';
  const patience = handled === undefined ? UNSEEN_DELIVERIES : maxDeliver + GAP_QUICK_DELIVERIES;
  if (version > (handled ?? 0) + 1 && meta.deliveries < patience) throw new VersionGap();
  await upsertVersion(trx, { consumer, aggregate }, version);
  return 'next';
};
