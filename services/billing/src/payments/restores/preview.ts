import { events, type RestoreEffect } from '@svc/contracts';
import { retryTransaction } from '@svc/database';
import type { Knex } from 'knex';
import type { Stripe } from 'stripe';
import type { ListenerDeps } from '../events/index.ts';
import { readSubscription, type WithheldRequest } from '../stripe/index.ts';
import type { RestoredItem } from './list-restored.ts';
import { type Reconciled, settleRestored } from './reconcile.ts';

export interface PreviewDeps extends ListenerDeps {
  /** Creates a client that sends no request that writes, and notes those instead. */
  readonly dryRun: (note: (request: WithheldRequest) => void) => Stripe;
}

/** Effects that `reconcileWithStripe` would have. */
export interface Preview extends Reconciled {
  readonly effects: readonly RestoreEffect[];
}

/** Listed effects. */
const EFFECTS_MAX = 10_000;

/**
 * Lists what `reconcileWithStripe` would do, and changes nothing. Each object is settled by the same code, in a transaction
 * that is rolled back, with a client that only notes what it would write.
 */
export const previewReconcile = async (deps: PreviewDeps, since: Date): Promise<Preview> => {
  const effects = new Map<string, RestoreEffect>();
  const reconciled = await settleRestored(deps, since, async (item) => {
    for (const effect of await effectsOf(deps, item)) {
      // Several objects lead to the same effect: a session, its subscription, and their events.
      const key = `${effect.action} ${effect.object} ${effect.svc_user_id}`;
      if (effects.size < EFFECTS_MAX) effects.set(key, effect);
    }
  });
  return { ...reconciled, effects: [...effects.values()] };
};

/** Carries the effects out of a transaction that is rolled back. */
class RolledBack extends Error {
  readonly effects: readonly RestoreEffect[];
  constructor(effects: readonly RestoreEffect[]) {
    super('rolled back');
    this.effects = effects;
  }
}

const effectsOf = async (deps: PreviewDeps, item: RestoredItem): Promise<readonly RestoreEffect[]> => {
  const settle = async (trx: Knex.Transaction): Promise<never> => {
    const before = await readEnds(trx);
    const withheld: WithheldRequest[] = [];
    const stripe = deps.dryRun((request) => withheld.push(request));
    const dry = { ...deps, database: trx, stripe, relay: { hint: () => undefined } };
    await item.settle(dry);
    throw new RolledBack([...(await effectsAtStripe(dry, withheld)), ...(await listEffects(trx, before))]);
  };
  try {
    // In one snapshot, everything beyond the ends is written by this transaction.
    return await retryTransaction<never>(deps.database, settle, { isolation: 'repeatable read' });
  } catch (error) {
    if (error instanceof RolledBack) return error.effects;
    throw error;
  }
};

/** Path of a subscription in Stripe's API. */
const SUBSCRIPTION = /^\/v1\/subscriptions\/([^/]+)$/;

/** Lists what the withheld requests would do. The refund of a subscription's payment belongs to its cancellation. */
const effectsAtStripe = async (deps: ListenerDeps, withheld: readonly WithheldRequest[]): Promise<RestoreEffect[]> => {
  const effects: RestoreEffect[] = [];
  for (const { method, path } of withheld) {
    const object = SUBSCRIPTION.exec(path)?.[1];
    if (object === undefined) continue;
    const isEnd = method === 'DELETE';
    const svc_user_id = isEnd ? ((await readSubscription(deps, object))?.userId ?? null) : null;
    const action = isEnd ? 'refund_and_cancel' : 'cancel_at_period_end';
    effects.push({ action, svc_user_id, object, amount_micros: null, currency: null });
  }
  return effects;
};

interface Ends {
  readonly posting: number;
  readonly fact: number;
}

const readEnds = async (trx: Knex.Transaction): Promise<Ends> => {
  const { rows } = await trx.raw<{ rows: Ends[] }>(
    `SELECT coalesce((SELECT max(id) FROM ledger_postings), 0) AS posting,
      coalesce((SELECT max(seq) FROM outbox), 0) AS fact`,
  );
  return rows[0] ?? { posting: 0, fact: 0 };
};

/** Lists the changes of wallets and the facts that the transaction has written. */
const listEffects = async (trx: Knex.Transaction, { posting, fact }: Ends): Promise<RestoreEffect[]> => {
  const { rows } = await trx.raw<{ rows: RestoreEffect[] }>(
    `SELECT CASE WHEN sum(e.amount_micros) > 0 THEN 'credit' ELSE 'take_back' END AS action, p.svc_user_id,
        p.reference AS object, abs(sum(e.amount_micros))::bigint AS amount_micros, p.currency
      FROM ledger_postings AS p JOIN ledger_entries AS e ON e.posting_id = p.id AND e.book = 'wallet_available'
      WHERE p.id > :posting GROUP BY p.id
      UNION ALL
      SELECT 'announce', payload ->> 'svc_user_id', aggregate || ' ' || (payload ->> 'status'), NULL, NULL
      FROM outbox WHERE seq > :fact AND subject IN (:changed, :ended)`,
    { posting, fact, changed: events.subscriptionChanged.subject, ended: events.subscriptionEnded.subject },
  );
  return rows;
};
