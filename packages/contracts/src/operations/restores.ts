import { z } from 'zod';
import { defineRoute, json, jsonBody } from '../core/route.ts';
import { timestampSchema } from '../core/time.ts';
import { type ConsumingService, consumingServices } from './outbox-and-inbox.ts';

/** Outcome of `after-restore`. A repeated call for the same moment continues the same epoch. */
export const afterRestoreSchema = z.object({
  /** Null for a service that publishes no facts. */
  epoch: z.uuid().nullable(),
  began_at: timestampSchema.nullable(),
  /**
   * Subscriptions and payments that the payment provider reports since the restored moment. At auth, accounts erased since,
   * which are erased again.
   */
  reconciled: z.int(),
  /** Aggregates whose current state this call announced. */
  announced: z.int(),
  /** Messages that the consumers read again. They ignore those that the restored database knows. */
  read_again: z.int(),
  /** Objects of the payment provider, and customers, that could not be taken over or announced. The others were. */
  failed: z.array(z.object({ object: z.string(), reason: z.string() })),
});

export type AfterRestore = z.infer<typeof afterRestoreSchema>;

/** An effect that `after-restore billing` would have. */
export const restoreEffectSchema = z.object({
  /**
   * `refund_and_cancel`: a subscription bought while another one was live. `cancel_at_period_end`: one whose payment is
   * lost in a dispute. `credit`, `take_back`: a change of a wallet.
   * `announce`: a state of a subscription that receivers do not know.
   */
  action: z.enum(['refund_and_cancel', 'cancel_at_period_end', 'credit', 'take_back', 'announce']),
  svc_user_id: z.string().nullable(),
  /** Subscription at the payment provider, reference of the ledger, or aggregate and status. */
  object: z.string(),
  amount_micros: z.int().nullable(),
  currency: z.string().nullable(),
});

export type RestoreEffect = z.infer<typeof restoreEffectSchema>;

const restorePreviewSchema = z.object({
  effects: z.array(restoreEffectSchema),
  /** Objects of the payment provider that were compared. */
  reconciled: z.int(),
  /** Customers whose present state would be announced. */
  announced: z.int(),
  failed: afterRestoreSchema.shape.failed,
});

const body = jsonBody(z.strictObject({ restored_to: timestampSchema }));

const afterRestoreOf = <const S extends ConsumingService>(service: S) =>
  defineRoute({
    service,
    caller: 'service',
    callers: ['operator'],
    errorShape: 'detail',
    tag: 'Operations',
    operationId: 'afterRestore',
    method: 'POST',
    path: `/internal/operations/${service}/after-restore`,
    summary:
      'After the database was restored to an earlier moment: start a new epoch, announce the current state, and read the kept facts again',
    request: { body },
    responses: { 200: json('The new epoch.', afterRestoreSchema) },
    errors: service === 'billing' ? ['payment_provider_unavailable'] : [],
  });

/** Operator route to call after a restore, for each service. */
export const restoreOperations = Object.fromEntries(
  consumingServices.map((service) => [service, afterRestoreOf(service)]),
) as Readonly<Record<ConsumingService, ReturnType<typeof afterRestoreOf<ConsumingService>>>>;

/** Operator route that lists what `after-restore billing` would do, and changes nothing. */
export const previewRestore = defineRoute({
  service: 'billing',
  caller: 'service',
  callers: ['operator'],
  errorShape: 'detail',
  tag: 'Operations',
  operationId: 'previewRestore',
  method: 'POST',
  path: '/internal/operations/billing/after-restore/preview',
  summary: 'List what after-restore would refund, cancel, credit, take back and announce, and change nothing',
  request: { body },
  responses: { 200: json('The effects.', restorePreviewSchema) },
  errors: ['payment_provider_unavailable'],
});
