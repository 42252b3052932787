import { createHmac, timingSafeEqual } from 'node:crypto';
import { WEBHOOK_TOLERANCE_SECONDS, webhookEventNames, webhookEventSchema } from '../generated/contract.ts';
import { readSignatureHeader, type SignatureHeader } from './signature-header.ts';
import { type WebhookEvent, webhookEnvelopeSchema } from './webhook-event.ts';
import { UnknownWebhookEventError, WebhookRejectedError } from './webhook-rejected-error.ts';

/** Limit of a body. Events are far smaller. */
export const WEBHOOK_BODY_BYTES_MAX = 1024 * 1024;

/** Secret from `PUT …/webhook`, prefix included; several while one replaces another. */
export type SigningSecret = string | readonly string[];

export interface VerifyWebhookOptions {
  /** Defaults to 300. */
  readonly toleranceSeconds?: number | undefined;
  readonly now?: Date | undefined;
  /** The app's `client_id`. Events for another app are rejected. */
  readonly integrationId?: string | undefined;
}

/**
 * Verifies a delivery and returns its event. `rawBody` is the body as received, before any parser: it is not parsed
 * until its signature has been verified in constant time. Throws `WebhookRejectedError`, `UnknownWebhookEventError`, or
 * `TypeError` for invalid arguments.
 */
export const verifyWebhook = (
  rawBody: Uint8Array | string,
  header: string | readonly string[] | null | undefined,
  secret: SigningSecret,
  options: VerifyWebhookOptions = {},
): WebhookEvent => {
  const body = toBytes(rawBody);
  const secrets = readSecrets(secret);
  if (body.byteLength > WEBHOOK_BODY_BYTES_MAX) throw new WebhookRejectedError('body_too_large');
  const signature = readHeader(header);
  if (!isSigned(body, signature, secrets)) throw new WebhookRejectedError('signature_mismatch');
  const now = options.now ?? new Date();
  const ageSeconds = Math.abs(now.getTime() / 1000 - Number(signature.timestamp));
  if (!(ageSeconds <= (options.toleranceSeconds ?? WEBHOOK_TOLERANCE_SECONDS))) {
    throw new WebhookRejectedError('timestamp_out_of_tolerance');
  }
  return readEvent(body, options.integrationId);
};

const toBytes = (rawBody: unknown): Uint8Array => {
  if (rawBody instanceof Uint8Array) return rawBody;
  if (typeof rawBody === 'string') return Buffer.from(rawBody, 'utf8');
  throw new TypeError('rawBody must be the unparsed bytes of the request; run no body parser before.');
};

/** Rejects empty secrets, which would make every signature forgeable. */
export const readSecrets = (secret: SigningSecret): readonly string[] => {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (secrets.length > 0 && secrets.every((each) => typeof each === 'string' && each !== '')) return secrets;
  throw new TypeError('secret must be the signing secret of the webhook configuration');
};

const readHeader = (header: string | readonly string[] | null | undefined): SignatureHeader => {
  if (header === null || header === undefined || header === '') throw new WebhookRejectedError('signature_missing');
  const signature = typeof header === 'string' ? readSignatureHeader(header) : undefined;
  if (signature === undefined) throw new WebhookRejectedError('signature_malformed');
  return signature;
};

/** Compares every signature with every secret, even after a match, so that the time reveals nothing. */
const isSigned = (body: Uint8Array, header: SignatureHeader, secrets: readonly string[]): boolean => {
  let isFound = false;
  for (const secret of secrets) {
    const expected = createHmac('sha256', secret).update(`${header.timestamp}.`).update(body).digest();
    for (const signature of header.signatures) {
      if (timingSafeEqual(signature, expected)) isFound = true;
    }
  }
  return isFound;
};

const readEvent = (body: Uint8Array, integrationId: string | undefined): WebhookEvent => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (cause) {
    throw new WebhookRejectedError('body_malformed', { cause });
  }
  const envelope = webhookEnvelopeSchema.safeParse(parsed);
  if (!envelope.success) throw new WebhookRejectedError('body_malformed', { cause: envelope.error });
  if (integrationId !== undefined && envelope.data.integration_id !== integrationId) {
    throw new WebhookRejectedError('integration_mismatch');
  }
  if (!webhookEventNames.some((name) => name === envelope.data.event)) {
    throw new UnknownWebhookEventError(envelope.data);
  }
  const event = webhookEventSchema.safeParse(parsed);
  if (!event.success) throw new WebhookRejectedError('body_malformed', { cause: event.error });
  return event.data;
};
