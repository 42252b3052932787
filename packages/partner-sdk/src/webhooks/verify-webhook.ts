import { createHmac, timingSafeEqual } from 'node:crypto';
import { readSignatureHeader, type SignatureHeader } from './signature-header.ts';
import { type WebhookEvent, webhookEnvelopeSchema, webhookEventNames, webhookEventSchema } from './webhook-event.ts';
import { UnknownWebhookEventError, WebhookRejectedError } from './webhook-rejected-error.ts';

/** Seconds by which the signed time may differ from the receiver's clock, both ways. */
export const TOLERANCE_SECONDS = 300;
/** Bytes of a body; events are far smaller. */
export const WEBHOOK_BODY_BYTES_MAX = 1024 * 1024;

/** The secret that `PUT …/webhook` answered, prefix included; several while one replaces another. */
export type SigningSecret = string | readonly string[];

/** How strictly to verify. */
export interface VerifyWebhookOptions {
  /** 300 unless given. */
  readonly toleranceSeconds?: number | undefined;
  readonly now?: Date | undefined;
  /** The app's `client_id`: an event for another app is refused. */
  readonly integrationId?: string | undefined;
}

/**
 * Verifies a delivery and gives its event. `rawBody` is the body as it came, byte for byte, before any parser: nothing of it
 * is looked at until the signature, compared in constant time, has been found right. Throws `WebhookRejectedError`,
 * `UnknownWebhookEventError`, or `TypeError` where it is called wrongly.
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
  if (!(ageSeconds <= (options.toleranceSeconds ?? TOLERANCE_SECONDS))) {
    throw new WebhookRejectedError('timestamp_out_of_tolerance');
  }
  return readEvent(body, options.integrationId);
};

const toBytes = (rawBody: unknown): Uint8Array => {
  if (rawBody instanceof Uint8Array) return rawBody;
  if (typeof rawBody === 'string') return Buffer.from(rawBody, 'utf8');
  throw new TypeError('rawBody must be the bytes of the request as they came; let no parser run before.');
};

/** An empty key would make every signature forgeable. */
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

/** Compares every signature with every secret, also after one has fitted: the time tells nothing. */
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
