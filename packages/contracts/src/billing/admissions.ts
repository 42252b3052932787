import { z } from 'zod';
import { idSchema, isId } from '../core/ids.ts';
import { nonNegativeMicrosSchema } from '../core/money.ts';
import { timestampSchema } from '../core/time.ts';
import { reservationStateSchema } from './usage.ts';

/** Kinds of delegated inference, as plans include them. */
export const delegatedServiceSchema = z.enum(['chat', 'audio_transcription']);

/** Asks whether a delegated request may be forwarded. Asking again for one admitted request answers the same. */
export const delegatedAdmissionRequestSchema = z.object({
  kind: z.literal('delegated'),
  request_id: idSchema('req'),
  svc_user_id: idSchema('usr'),
  client_id: idSchema('app'),
  service: delegatedServiceSchema,
  estimate_micros: nonNegativeMicrosSchema.meta({ description: 'What an outcome that stays unknown is settled at.' }),
  idempotency_key: z.string().min(1).max(255).optional(),
});

/** Asks whether an API-key request may be forwarded, and holds its highest cost in the wallet. */
export const keyAdmissionRequestSchema = z.object({
  kind: z.literal('api_key'),
  request_id: idSchema('req'),
  svc_user_id: idSchema('usr'),
  key_id: idSchema('key'),
  hold_micros: nonNegativeMicrosSchema,
  requests_per_minute: z.int().min(1).nullable(),
  monthly_limit_micros: nonNegativeMicrosSchema.nullable(),
});

/** Asks whether a key may spend anything, before the size of its request is known. */
export const keyStandingRequestSchema = keyAdmissionRequestSchema.pick({
  key_id: true,
  requests_per_minute: true,
  monthly_limit_micros: true,
});

/** Asks whether a key may spend anything, before the size of its request is known. */
export type KeyStandingRequest = z.infer<typeof keyStandingRequestSchema>;

/** A question to billing: may money be spent on this request. */
export const admissionRequestSchema = z.discriminatedUnion('kind', [
  delegatedAdmissionRequestSchema,
  keyAdmissionRequestSchema,
]);

/** A question to billing: may money be spent on this request. */
export type AdmissionRequest = z.infer<typeof admissionRequestSchema>;

/** The minute's budget of an API key after this decision. */
export const rateLimitStateSchema = z.object({
  limit: z.int(),
  remaining: z.int(),
  reset_ms: z.int().min(0),
});

/** Billing's decision. Every refusal is named by the error code that the caller is given. */
export const admissionSchema = z.object({
  verdict: z.enum([
    'admitted',
    'subscription_inactive',
    'subscription_service_not_included',
    'weekly_limit_exceeded',
    'monthly_limit_exceeded',
    'subscription_requests_pending',
    'duplicate_request',
    'insufficient_balance',
    'rate_limit_exceeded',
    'key_monthly_limit_exceeded',
  ]),
  resets_at: timestampSchema.optional(),
  duplicate_of: z.object({ request_id: idSchema('req'), state: reservationStateSchema }).optional(),
  rate_limit: rateLimitStateSchema.optional(),
});

/** Billing's decision. */
export type Admission = z.infer<typeof admissionSchema>;

/** Questions in one call. */
export const ADMISSIONS_MAX = 64;

/**
 * The channel over which gateways ask billing: a connection that is kept, opened by an HTTP/1.1 upgrade (RFC 9110 section 7.8) with a
 * service credential. A call is a line of JSON, its answer one line for each question, in the order of the decisions: nobody waits for
 * the account of somebody else. The next call of a channel comes after the last line of the one before.
 */
export const admissionChannel = {
  operationId: 'admitRequests',
  path: '/internal/admissions/channel',
  protocol: 'svc-admissions',
} as const;

/** A call: questions that came together. One that is no question reads as null, so that it fails alone. */
export const admissionsCallSchema = z.object({
  request_id: idSchema('req').meta({ description: 'Of the first question, for the log.' }),
  traceparent: z.string().optional(),
  admissions: z.array(admissionRequestSchema.nullable().catch(null)).min(1).max(ADMISSIONS_MAX),
});

/** A call: questions that came together. */
export type AdmissionsCall = z.input<typeof admissionsCallSchema>;

/**
 * Reads a call. One that is as it should be, as nearly all are, is told without the schema, whose many small parts are hardly ever
 * still in the processor's caches. Throws ZodError for what is no call.
 */
export const readAdmissionsCall = (value: unknown): z.output<typeof admissionsCallSchema> =>
  isCall(value) ? value : admissionsCallSchema.parse(value);

type Members = { readonly [name: string]: unknown };

const isCall = (value: unknown): value is z.output<typeof admissionsCallSchema> => {
  if (!isObject(value) || !isId('req', value['request_id'])) return false;
  const { traceparent, admissions } = value;
  return (
    (traceparent === undefined || typeof traceparent === 'string') &&
    Array.isArray(admissions) &&
    admissions.length > 0 &&
    admissions.length <= ADMISSIONS_MAX &&
    admissions.every(isQuestion)
  );
};

const isQuestion = (value: unknown): boolean => {
  if (!isObject(value) || !isId('req', value['request_id']) || !isId('usr', value['svc_user_id'])) return false;
  if (value['kind'] === 'api_key') return isOfKey(value);
  return value['kind'] === 'delegated' && isOfApp(value);
};

const isOfKey = (value: Members): boolean => {
  const { key_id, hold_micros, requests_per_minute: rate, monthly_limit_micros: limit } = value;
  const isRate = rate === null || (isWhole(rate) && rate > 0);
  return isId('key', key_id) && isWhole(hold_micros) && isRate && (limit === null || isWhole(limit));
};

const isOfApp = (value: Members): boolean => {
  const { client_id, service, estimate_micros, idempotency_key: name } = value;
  const isName = name === undefined || (typeof name === 'string' && name.length > 0 && name.length <= 255);
  const isService = service === 'chat' || service === 'audio_transcription';
  return isId('app', client_id) && isService && isWhole(estimate_micros) && isName;
};

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/**
 * One line of an answer: the decision on one question, or the code of the error why there is none. Without a place it is about the
 * whole call, and its last line.
 */
export const admissionLineSchema = z.object({
  place: z.int().min(0).optional().meta({ description: 'Where the question stood, from 0.' }),
  admission: admissionSchema.optional(),
  error: z.string().optional(),
});

/** One line of an answer. */
export type AdmissionLine = z.infer<typeof admissionLineSchema>;

/** How a request ended, as the gateway knows it. */
export const requestOutcomeSchema = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('settled'), cost_micros: nonNegativeMicrosSchema }),
  z.object({ outcome: z.literal('released') }),
  z.object({ outcome: z.literal('uncertain') }),
]);

/** How a request ended, as the gateway knows it. */
export type RequestOutcome = z.infer<typeof requestOutcomeSchema>;

/** Tells billing how requests ended; telling it again changes nothing. */
export const settlementsRequestSchema = z.object({
  settlements: z
    .array(z.object({ request_id: idSchema('req'), result: requestOutcomeSchema }))
    .min(1)
    .max(500),
});

/** The state of each request after that; null where billing never admitted it. */
export const settlementsSchema = z.object({
  results: z.array(z.object({ request_id: z.string(), state: reservationStateSchema.nullable() })),
});
