import { encodeBase64, readBytes } from '../bytes.ts';
import { WEBHOOK_EVENTS_PATH } from '../generated/webhooks.ts';
import { readServerUrl } from '../server-url.ts';
import { flag, type Infer, integer, list, object, text } from '../shape.ts';
import { WebhookEventsError, type WebhookEventsErrorReason } from './webhook-events-error.ts';

/** Limit of the service. */
const PAGE_EVENTS_MAX = 100;
const PAGE_BYTES_MAX = 16 * 1024 * 1024;
const TIMEOUT_SECONDS = 10;

/** Access to the service's list of events, from which a receiver fetches what it missed. */
export interface WebhookEventsOptions {
  /** Base URL of the service, without `/v1`. */
  readonly baseUrl: string;
  /** The app's secret. The list answers confidential apps only. */
  readonly clientSecret: string;
  /**
   * Sequence behind which an empty store begins. Defaults to 0: with the oldest event that the service still has.
   */
  readonly startAfterSequence?: number | undefined;
  /** Allows http to hosts that are not loopback. Never set it in production. */
  readonly allowInsecure?: boolean | undefined;
  /** Time limit of one request, in seconds. Defaults to 10. */
  readonly timeoutSeconds?: number | undefined;
  /** A replacement for `fetch`, for example one with a proxy. */
  readonly fetch?: typeof fetch | undefined;
}

// Kinds and statuses that a later release adds must pass.
export const eventsPageShape = object({
  data: list(object({ event_id: text(1), sequence: integer(1), status: text(1), payload: text(1) })),
  has_more: flag(),
});

export type EventsPage = Infer<typeof eventsPageShape>;
export type StoredEvent = EventsPage['data'][number];

/** Returns a function that fetches the events after a sequence, ascending. It throws `WebhookEventsError`. */
export const createEventsFetcher = (
  clientId: string,
  options: WebhookEventsOptions,
): ((afterSequence: number) => Promise<EventsPage>) => {
  const base = readServerUrl(options.baseUrl, 'events.baseUrl', options.allowInsecure).href.replace(/\/$/, '');
  const send = options.fetch ?? ((input, init) => fetch(input, init));
  // RFC 6749 section 2.3.1: both parts are encoded as in a form.
  const credentials = `${encodeURIComponent(clientId)}:${encodeURIComponent(options.clientSecret)}`;
  const headers = {
    accept: 'application/json',
    authorization: `Basic ${encodeBase64(new TextEncoder().encode(credentials))}`,
  };

  return async (afterSequence) => {
    const url = `${base}${WEBHOOK_EVENTS_PATH}?after_sequence=${afterSequence}&limit=${PAGE_EVENTS_MAX}`;
    let status: number;
    let bytes: Uint8Array;
    try {
      const signal = AbortSignal.timeout((options.timeoutSeconds ?? TIMEOUT_SECONDS) * 1000);
      // Never send the secret to another host.
      const response = await send(url, { headers, redirect: 'manual', signal });
      status = response.status;
      bytes = await readBytes(response.body, PAGE_BYTES_MAX);
    } catch (cause) {
      throw new WebhookEventsError(cause instanceof RangeError ? 'invalid_answer' : 'unavailable', { cause });
    }
    if (status !== 200) throw new WebhookEventsError(toReason(status));
    return readPage(bytes, afterSequence);
  };
};

const toReason = (status: number): WebhookEventsErrorReason => {
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 404 || status === 410) return 'gone';
  return status === 429 || status >= 500 ? 'unavailable' : 'invalid_answer';
};

const readPage = (bytes: Uint8Array, afterSequence: number): EventsPage => {
  let page: EventsPage;
  try {
    page = eventsPageShape(JSON.parse(new TextDecoder().decode(bytes)), 'events');
  } catch (cause) {
    throw new WebhookEventsError('invalid_answer', { cause });
  }
  let last = afterSequence;
  for (const { sequence } of page.data) {
    if (sequence <= last) throw new WebhookEventsError('invalid_answer');
    last = sequence;
  }
  // Such a page would be fetched forever.
  if (page.has_more && page.data.length === 0) throw new WebhookEventsError('invalid_answer');
  return page;
};
