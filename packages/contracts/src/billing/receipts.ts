import { z } from 'zod';
import { clientIdSchema, idSchema } from '../core/ids.ts';
import { currencySchema, nonNegativeMicrosSchema } from '../core/money.ts';
import { timestampSchema } from '../core/time.ts';
import { payerSchema } from './usage.ts';

/** `typ` in the JWS header of a receipt. */
export const RECEIPT_TYPE = 'svc-receipt+jwt';

const tokensSchema = z.int().min(0).nullable();

const commonClaims = {
  iss: z.string(),
  iat: z.int().meta({ description: 'Time of settlement in Unix seconds.' }),
  request_id: idSchema('req'),
  sub: idSchema('usr'),
  service: z.string().nullable(),
  outcome: z.enum(['settled', 'estimated', 'released']),
  cost_micros: nonNegativeMicrosSchema,
  currency: currencySchema,
  paid_by: payerSchema,
  input_tokens: tokensSchema,
  output_tokens: tokensSchema,
  cached_input_tokens: tokensSchema,
  audio_seconds: z.number().optional(),
  created_at: timestampSchema,
  settled_at: timestampSchema,
};

/** Claims of a delegated request's receipt. They name neither provider nor model. */
export const delegatedReceiptClaimsSchema = z.object({ ...commonClaims, client_id: clientIdSchema });

const servedByClaims = {
  provider: z.string().nullable(),
  model: z.string().nullable(),
  data_zone: z.string().nullable(),
  certification: z.string().nullable(),
  upstream_request_id: z.string().nullable(),
};

/** Claims of an API-key request's receipt. */
export const keyReceiptClaimsSchema = z.object({
  ...commonClaims,
  key_id: idSchema('key'),
  ...servedByClaims,
});

export const receiptClaimsSchema = z
  .union([delegatedReceiptClaimsSchema, keyReceiptClaimsSchema])
  .meta({ id: 'ReceiptClaims' });

export type ReceiptClaims = z.infer<typeof receiptClaimsSchema>;

/** A signed receipt: a compact JWS (RFC 7515 section 3.1), `typ` `svc-receipt+jwt`, ES256. */
export const receiptSchema = z.object({ receipt: z.string() }).meta({ id: 'Receipt' });

/** Request for the receipt of an API-key request. Billing knows its cost, and its gateway all else. */
export const keyReceiptRequestSchema = z.object({
  request_id: idSchema('req'),
  svc_user_id: idSchema('usr'),
  key_id: idSchema('key'),
  details: z
    .object({
      service: z.string(),
      ...servedByClaims,
      input_tokens: tokensSchema,
      output_tokens: tokensSchema,
      cached_input_tokens: tokensSchema,
      started_at: timestampSchema,
    })
    .meta({ description: 'As its gateway has recorded it, and always the same.' }),
});

export type KeyReceiptRequest = z.infer<typeof keyReceiptRequestSchema>;
