import { z } from 'zod';
import { idSchema } from '../core/ids.ts';
import { nonNegativeMicrosSchema } from '../core/money.ts';
import { defineRoute, json, jsonBody, pageOf, pageQuery, type ServiceName } from '../core/route.ts';
import { timestampSchema } from '../core/time.ts';

/** Limit of a routes file sent by the operator. */
const ROUTES_FILE_CHARACTERS_MAX = 512 * 1024;

const operations = <const S extends ServiceName>(service: S) =>
  ({ service, caller: 'service', callers: ['operator'], errorShape: 'detail', tag: 'Operations' }) as const;

/** The owner of a webhook lane: an app or an account. */
const webhookOwnerIdSchema = z.union([idSchema('app'), idSchema('usr')]);

const requestParams = z.object({ request_id: idSchema('req') });

/** A request whose outcome is unknown. */
export const uncertainReservationSchema = z.object({
  request_id: idSchema('req'),
  svc_user_id: idSchema('usr'),
  service: z.string(),
  estimate_micros: nonNegativeMicrosSchema,
  created_at: timestampSchema,
  uncertain_at: timestampSchema,
});

export type UncertainReservation = z.infer<typeof uncertainReservationSchema>;

/** A signing key: next, active or retired. */
export const signingKeyStateSchema = z.object({
  kid: z.string(),
  state: z.enum(['next', 'active', 'retired']),
  created_at: timestampSchema,
  activated_at: timestampSchema.nullable(),
  retired_at: timestampSchema.nullable(),
});

/** Operator routes of single services. */
export const serviceOperations = {
  listUncertainReservations: defineRoute({
    ...operations('billing'),
    operationId: 'listUncertainReservations',
    method: 'GET',
    path: '/internal/operations/billing/uncertain-reservations',
    summary: 'List requests with an unknown outcome, oldest first',
    request: { query: z.object(pageQuery) },
    responses: { 200: json('The reservations.', pageOf(uncertainReservationSchema)) },
    errors: [],
  }),
  settleUncertainReservation: defineRoute({
    ...operations('billing'),
    operationId: 'settleUncertainReservation',
    method: 'POST',
    path: '/internal/operations/billing/uncertain-reservations/{request_id}/settle',
    summary: 'Settle a request with an unknown outcome, at a cost that the provider confirmed or at its estimate',
    request: {
      params: requestParams,
      body: jsonBody(z.strictObject({ cost_micros: nonNegativeMicrosSchema.nullable() })),
    },
    responses: {
      200: json(
        'The new state. `settled` is true if this call settled it.',
        z.object({
          request_id: idSchema('req'),
          state: z.string(),
          settled: z.boolean(),
        }),
      ),
    },
    errors: ['not_found'],
  }),
  listSigningKeys: defineRoute({
    ...operations('auth'),
    operationId: 'listSigningKeys',
    method: 'GET',
    path: '/internal/operations/auth/signing-keys',
    summary: 'List the signing keys: next, active and retired',
    request: {},
    responses: { 200: json('The keys.', z.object({ data: z.array(signingKeyStateSchema) })) },
    errors: [],
  }),
  rotateSigningKeys: defineRoute({
    ...operations('auth'),
    operationId: 'rotateSigningKeys',
    method: 'POST',
    path: '/internal/operations/auth/signing-keys/rotate',
    summary: 'Activate the next signing key if the given one is still active; tokens signed earlier stay valid',
    request: { body: jsonBody(z.strictObject({ active_kid: z.string().min(1).max(128) })) },
    responses: {
      200: json(
        'The keys after the rotation.',
        z.object({ data: z.array(signingKeyStateSchema), rotated: z.boolean() }),
      ),
    },
    errors: ['signing_key_not_ready'],
  }),
  withdrawReceiptKeys: defineRoute({
    ...operations('billing'),
    operationId: 'withdrawReceiptKeys',
    method: 'POST',
    path: '/internal/operations/billing/receipt-keys/withdraw',
    summary: 'Stop publishing the receipt keys of secrets that are no longer configured: their receipts become invalid',
    request: {},
    responses: { 200: json('The number of withdrawn keys.', z.object({ withdrawn: z.int() })) },
    errors: [],
  }),
  withdrawProofKeys: defineRoute({
    ...operations('inference-gateway'),
    operationId: 'withdrawProofKeys',
    method: 'POST',
    path: '/internal/operations/inference-gateway/proof-keys/withdraw',
    summary: 'Stop publishing the keys of proofs whose secrets are no longer configured: these proofs become invalid',
    request: {},
    responses: { 200: json('The number of withdrawn keys.', z.object({ withdrawn: z.int() })) },
    errors: [],
  }),
  getLaneHealth: defineRoute({
    ...operations('webhook-dispatcher'),
    operationId: 'getLaneHealth',
    method: 'GET',
    path: '/internal/operations/webhook-dispatcher/lanes',
    summary: 'Get the state of deliveries and the blocked lanes',
    request: { query: z.object(pageQuery) },
    responses: {
      200: json(
        'The lanes.',
        z.object({
          due: z.int(),
          oldest_due_seconds: z.number(),
          blocked: z.int(),
          data: z.array(z.object({ owner_id: webhookOwnerIdSchema, event_id: idSchema('evt'), sequence: z.int() })),
          has_more: z.boolean(),
        }),
      ),
    },
    errors: [],
  }),
  retryBlockedLanes: defineRoute({
    ...operations('webhook-dispatcher'),
    operationId: 'retryBlockedLanes',
    method: 'POST',
    path: '/internal/operations/webhook-dispatcher/lanes/retry',
    summary: 'Retry the failed events that block lanes since a moment, up to 200 lanes a call',
    request: {
      body: jsonBody(
        z.strictObject({
          blocked_since: timestampSchema,
          host: z.string().min(1).max(255).nullable(),
          after: webhookOwnerIdSchema.nullable(),
        }),
      ),
    },
    responses: {
      200: json(
        'The retried events. `after` continues behind the last lane that was looked at; null at the end.',
        z.object({
          data: z.array(z.object({ owner_id: webhookOwnerIdSchema, event_id: idSchema('evt') })),
          after: webhookOwnerIdSchema.nullable(),
        }),
      ),
    },
    errors: [],
  }),
  checkRoutesFile: defineRoute({
    ...operations('inference-gateway'),
    operationId: 'checkRoutesFile',
    method: 'POST',
    path: '/internal/operations/inference-gateway/routes/check',
    summary: 'Check a routes file against this gateway and its keys, without changing anything',
    request: { body: jsonBody(z.strictObject({ text: z.string().max(ROUTES_FILE_CHARACTERS_MAX) })) },
    responses: { 200: json('Its faults; empty if the file is valid.', z.object({ faults: z.array(z.string()) })) },
    errors: [],
  }),
  reloadRoutes: defineRoute({
    ...operations('inference-gateway'),
    operationId: 'reloadRoutes',
    method: 'POST',
    path: '/internal/operations/inference-gateway/routes/reload',
    summary: 'Reload the routes file; an invalid file leaves the routes unchanged',
    request: {},
    responses: { 200: json('`loaded` is true if the file was valid.', z.object({ loaded: z.boolean() })) },
    errors: [],
  }),
} as const;
