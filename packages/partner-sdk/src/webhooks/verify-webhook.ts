import {
  accountWebhookEventNames,
  accountWebhookEventShape,
  WEBHOOK_TOLERANCE_SECONDS,
  webhookEventNames,
  webhookEventShape,
} from '../generated/webhooks.ts';
import type { Shape } from '../shape.ts';
import { isSigned, readSignatureHeaders, type WebhookHeaders } from './signature.ts';
import { UnknownWebhookEventError, WebhookRejectedError } from './webhook-errors.ts';
import {
  type AccountWebhookEvent,
  accountEnvelopeShape,
  type WebhookEvent,
  webhookEnvelopeShape,
} from './webhook-event.ts';

/** Limit of a body. Events are far smaller. */
export const WEBHOOK_BODY_BYTES_MAX = 1024 * 1024;

/** Secret from `PUT …/webhook`, prefix included; several while one replaces another. */
export type SigningSecret = string | readonly string[];

/** Check of a signed time. */
interface TimeOptions {
  /** Defaults to 300. */
  readonly toleranceSeconds?: number | undefined;
  readonly now?: Date | undefined;
}

export interface VerifyWebhookOptions extends TimeOptions {
  /** The app's `client_id`. Events for another app are rejected. */
  readonly integrationId?: string | undefined;
}

export interface VerifyAccountWebhookOptions extends TimeOptions {
  /** The account's `svc_user_id`. Events for another account are rejected. */
  readonly accountId?: string | undefined;
}

/**
 * Verifies a delivery to an app and returns its event. `rawBody` is the body as received, before any parser: it is not parsed
 * until its signature has been verified in constant time. `headers` are those of the request, of which either
 * `X-Svc-Signature` or the headers of Standard Webhooks are used. Rejects with `WebhookRejectedError`,
 * `UnknownWebhookEventError`, or `TypeError` for invalid arguments.
 */
export const verifyWebhook = async (
  rawBody: Uint8Array | string,
  headers: WebhookHeaders,
  secret: SigningSecret,
  options: VerifyWebhookOptions = {},
): Promise<WebhookEvent> =>
  parseEvent(await verifiedBody({ rawBody, headers, secret }, options), options.integrationId);

/** Verifies a delivery to an account's own webhook and returns its event, as `verifyWebhook` does for an app. */
export const verifyAccountWebhook = async (
  rawBody: Uint8Array | string,
  headers: WebhookHeaders,
  secret: SigningSecret,
  options: VerifyAccountWebhookOptions = {},
): Promise<AccountWebhookEvent> =>
  parseAccountEvent(await verifiedBody({ rawBody, headers, secret }, options), options.accountId);

interface SignedRequest {
  readonly rawBody: Uint8Array | string;
  readonly headers: WebhookHeaders;
  readonly secret: SigningSecret;
}

const verifiedBody = async ({ rawBody, headers, secret }: SignedRequest, options: TimeOptions): Promise<Uint8Array> => {
  const body = toBytes(rawBody);
  const secrets = readSecrets(secret);
  if (body.byteLength > WEBHOOK_BODY_BYTES_MAX) throw new WebhookRejectedError('body_too_large');
  const signed = readSignatureHeaders(headers);
  if (!(await isSigned(body, signed, secrets))) throw new WebhookRejectedError('signature_mismatch');
  const now = options.now ?? new Date();
  const ageSeconds = Math.abs(now.getTime() / 1000 - Number(signed.timestamp));
  if (!(ageSeconds <= (options.toleranceSeconds ?? WEBHOOK_TOLERANCE_SECONDS))) {
    throw new WebhookRejectedError('timestamp_out_of_tolerance');
  }
  return body;
};

const toBytes = (rawBody: unknown): Uint8Array => {
  if (rawBody instanceof Uint8Array) return rawBody;
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody);
  throw new TypeError('rawBody must be the unparsed bytes of the request; run no body parser before.');
};

/** Rejects empty secrets, which would make every signature forgeable. */
export const readSecrets = (secret: SigningSecret): readonly string[] => {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (secrets.length > 0 && secrets.every((each) => typeof each === 'string' && each !== '')) return secrets;
  throw new TypeError('secret must be the signing secret of the webhook configuration');
};

/**
 * Parses the body of an event whose origin is certain. Throws `WebhookRejectedError`, or `UnknownWebhookEventError` for a
 * kind that this release does not know.
 */
export const parseEvent = (body: Uint8Array, integrationId: string | undefined): WebhookEvent => {
  const parsed = parseJson(body);
  const envelope = readShape(webhookEnvelopeShape, parsed);
  if (integrationId !== undefined && envelope.integration_id !== integrationId) {
    throw new WebhookRejectedError('integration_mismatch');
  }
  if (!webhookEventNames.some((name) => name === envelope.event)) throw new UnknownWebhookEventError(envelope);
  return readShape(webhookEventShape, parsed);
};

const parseAccountEvent = (body: Uint8Array, accountId: string | undefined): AccountWebhookEvent => {
  const parsed = parseJson(body);
  const envelope = readShape(accountEnvelopeShape, parsed);
  if (accountId !== undefined && envelope.account_id !== accountId) throw new WebhookRejectedError('account_mismatch');
  if (!accountWebhookEventNames.some((name) => name === envelope.event)) throw new UnknownWebhookEventError(envelope);
  return readShape(accountWebhookEventShape, parsed);
};

const parseJson = (body: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (cause) {
    throw new WebhookRejectedError('body_malformed', { cause });
  }
};

const readShape = <T>(shape: Shape<T>, value: unknown): T => {
  try {
    return shape(value, 'event');
  } catch (cause) {
    throw new WebhookRejectedError('body_malformed', { cause });
  }
};
