import { z } from 'zod';
import { idSchema } from '../core/ids.ts';
import { pageOf, pageQuery } from '../core/lists.ts';
import { nonNegativeMicrosSchema } from '../core/money.ts';
import { defineRoute, json, jsonBody, type ServiceName } from '../core/route.ts';
import { timestampSchema } from '../core/time.ts';

/** The operator's routes file may be this long. */
const ROUTES_FILE_CHARACTERS_MAX = 512 * 1024;

const operations = <const S extends ServiceName>(service: S) =>
  ({ service, caller: 'service', callers: ['operator'], errorShape: 'detail', tag: 'Operations' }) as const;

const requestParams = z.object({ request_id: idSchema('req') });

/** A request whose outcome nobody has told. */
export const uncertainReservationSchema = z.object({
  request_id: idSchema('req'),
  svc_user_id: idSchema('usr'),
  service: z.string(),
  estimate_micros: nonNegativeMicrosSchema,
  created_at: timestampSchema,
  uncertain_at: timestampSchema,
});

/** A request whose outcome nobody has told. */
export type UncertainReservation = z.infer<typeof uncertainReservationSchema>;

/** A key that signs tokens, or did, or will. */
export const signingKeyStateSchema = z.object({
  kid: z.string(),
  state: z.enum(['next', 'active', 'retired']),
  created_at: timestampSchema,
  activated_at: timestampSchema.nullable(),
  retired_at: timestampSchema.nullable(),
});

/** What only single services can be asked by an operator. */
export const serviceOperations = {
  listUncertainReservations: defineRoute({
    ...operations('billing'),
    operationId: 'listUncertainReservations',
    method: 'GET',
    path: '/internal/operations/billing/uncertain-reservations',
    summary: 'Requests whose outcome nobody has told, oldest first',
    request: { query: z.object(pageQuery) },
    responses: { 200: json('The reservations.', pageOf(uncertainReservationSchema)) },
    errors: [],
  }),
  settleUncertainReservation: defineRoute({
    ...operations('billing'),
    operationId: 'settleUncertainReservation',
    method: 'POST',
    path: '/internal/operations/billing/uncertain-reservations/{request_id}/settle',
    summary: 'Settle a request whose outcome nobody has told: at a cost that the provider proves, or at its estimate',
    request: {
      params: requestParams,
      body: jsonBody(z.strictObject({ cost_micros: nonNegativeMicrosSchema.nullable() })),
    },
    responses: {
      200: json(
        'Its state now; `settled` says whether this call did it.',
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
    summary: 'The keys that sign tokens: next, active and retired ones',
    request: {},
    responses: { 200: json('The keys.', z.object({ data: z.array(signingKeyStateSchema) })) },
    errors: [],
  }),
  rotateSigningKeys: defineRoute({
    ...operations('auth'),
    operationId: 'rotateSigningKeys',
    method: 'POST',
    path: '/internal/operations/auth/signing-keys/rotate',
    summary: 'Have the next key sign from now on, if this one is the active one still; live tokens go on working',
    request: { body: jsonBody(z.strictObject({ active_kid: z.string().min(1).max(128) })) },
    responses: {
      200: json('The keys after it.', z.object({ data: z.array(signingKeyStateSchema), rotated: z.boolean() })),
    },
    errors: ['signing_key_not_ready'],
  }),
  reencryptSigningSecrets: defineRoute({
    ...operations('webhook-dispatcher'),
    operationId: 'reencryptSigningSecrets',
    method: 'POST',
    path: '/internal/operations/webhook-dispatcher/signing-secrets/reencrypt',
    summary: 'Put every signing secret under the first of the encryption keys',
    request: {},
    responses: { 200: json('How many were under another one.', z.object({ reencrypted: z.int() })) },
    errors: [],
  }),
  getLaneHealth: defineRoute({
    ...operations('webhook-dispatcher'),
    operationId: 'getLaneHealth',
    method: 'GET',
    path: '/internal/operations/webhook-dispatcher/lanes',
    summary: 'How deliveries stand, and the apps that are blocked',
    request: { query: z.object(pageQuery) },
    responses: {
      200: json(
        'The lanes.',
        z.object({
          due: z.int(),
          oldest_due_seconds: z.number(),
          blocked: z.int(),
          data: z.array(z.object({ client_id: idSchema('app'), event_id: idSchema('evt'), sequence: z.int() })),
          has_more: z.boolean(),
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
    summary: 'Judge a routes file as this gateway would, with the keys that it has; nothing is changed',
    request: { body: jsonBody(z.strictObject({ text: z.string().max(ROUTES_FILE_CHARACTERS_MAX) })) },
    responses: { 200: json('Its faults; none when it would be taken.', z.object({ faults: z.array(z.string()) })) },
    errors: [],
  }),
  reloadRoutes: defineRoute({
    ...operations('inference-gateway'),
    operationId: 'reloadRoutes',
    method: 'POST',
    path: '/internal/operations/inference-gateway/routes/reload',
    summary: 'Read the routes file now; a bad one leaves the routes as they were',
    request: {},
    responses: { 200: json('Whether it was taken.', z.object({ loaded: z.boolean() })) },
    errors: [],
  }),
} as const;
