import { encodeBase64, readBytes } from '../bytes.ts';
import { WEBHOOK_EVENTS_PATH } from '../generated/webhooks.ts';
import { readServerUrl } from '../server-url.ts';
import { flag, type Infer, integer, list, object, text } from '../shape.ts';
import { type EventProcessing, processEvent, type ReadEvent, reportGap } from './process-event.ts';
import { parseEvent } from './verify-webhook.ts';
import { UnknownWebhookEventError, WebhookEventsError, type WebhookEventsErrorReason } from './webhook-errors.ts';

/** Commits in a row that the store may lose before the receiver gives up. */
const LOST_COMMITS_MAX = 20;

/** A receiver that can fetch events. */
export interface GapClosing<Trx> extends EventProcessing<Trx> {
  readonly clientId: string;
  readonly fetchEvents: (afterSequence: number) => Promise<EventsPage>;
  /** Sequence behind which an empty store begins. */
  readonly startAfterSequence: number;
}

interface GapBounds {
  /** Stops before this sequence. Defaults to the end of the list. */
  readonly below?: number | undefined;
  /** Called before each request and event. Returning true stops; so does throwing. */
  readonly isOver: () => boolean;
}

interface ClosedGap {
  /** Number of events that reached the handler. */
  readonly processed: number;
  /** Every event up to here has been processed or passed over, or the service no longer has it. */
  readonly lastSequence: number;
  /** False if `isOver` stopped it. */
  readonly isClosed: boolean;
}

/**
 * Fetches the events behind the highest processed sequence and processes each in a transaction, in order. Starts again
 * where the store says, so it can be stopped, killed or run twice at any time. Throws `WebhookEventsError`,
 * `WebhookEventsLostError`, and errors of the handler and the store.
 */
export const closeGap = async <Trx>(gap: GapClosing<Trx>, { below, isOver }: GapBounds): Promise<ClosedGap> => {
  let at = await readPosition(gap);
  let processed = 0;
  /** Highest processed sequence, as the store had it last. */
  let done = at;
  let highest = at;
  let lostCommits = 0;
  for (;;) {
    if (isOver()) return { processed, lastSequence: at, isClosed: false };
    const page = await gap.fetchEvents(at);
    let isRewound = false;
    for (const stored of page.data) {
      if (below !== undefined && stored.sequence >= below) return { processed, lastSequence: at, isClosed: true };
      if (isOver()) return { processed, lastSequence: at, isClosed: false };
      if (stored.sequence <= done) {
        // Another worker is ahead.
        at = stored.sequence;
        continue;
      }
      const step = await gap.store.inTransaction((trx) => takeStep(gap, trx, { stored, after: at }));
      done = step.last;
      isRewound = step.last < at;
      at = isRewound ? step.last : stored.sequence;
      if (isRewound) break;
      if (step.isProcessed) processed += 1;
    }
    if (!isRewound && !page.has_more) return { processed, lastSequence: at, isClosed: true };
    lostCommits = at > highest ? 0 : lostCommits + 1;
    highest = Math.max(highest, at);
    if (lostCommits > LOST_COMMITS_MAX) throw new Error('The webhook store does not keep what it has committed.');
  }
};

const readPosition = async <Trx>({ store, clientId, startAfterSequence }: GapClosing<Trx>): Promise<number> =>
  await store.inTransaction(async (trx) => (await store.lockIntegration(trx, clientId)) ?? startAfterSequence);

/**
 * Processes the next event of the list, behind `after`. Returns the position that the store had before. Changes nothing
 * if another worker was faster, or if the store has fallen behind `after`: then a commit was lost, and the events since
 * have to be fetched again.
 */
const takeStep = async <Trx>(
  gap: GapClosing<Trx>,
  trx: Trx,
  { stored, after }: { readonly stored: StoredEvent; readonly after: number },
): Promise<{ last: number; isProcessed: boolean }> => {
  const { store, clientId: integrationId } = gap;
  const { sequence } = stored;
  const known = await store.lockIntegration(trx, integrationId);
  const last = known ?? gap.startAfterSequence;
  if (last < after || sequence <= last) return { last, isProcessed: false };
  await reportGap(gap, trx, { integrationId, sequence, last: known, isLost: true });
  if (stored.status === 'skipped') {
    // The owner has decided that the handler shall not see it.
    await store.updateLastSequence(trx, integrationId, sequence);
    return { last, isProcessed: false };
  }
  const outcome = await processEvent(gap, trx, { ...readStored(stored, integrationId), last: known });
  if (outcome === 'duplicate') await store.updateLastSequence(trx, integrationId, sequence);
  return { last, isProcessed: outcome === 'processed' };
};

const readStored = ({ event_id: eventId, sequence, payload }: StoredEvent, clientId: string): ReadEvent => {
  const read = readPayload(payload, clientId);
  if (read.envelope.event_id === eventId && read.envelope.sequence === sequence) return read;
  throw new WebhookEventsError('invalid_answer');
};

const readPayload = (payload: string, clientId: string): ReadEvent => {
  try {
    const event = parseEvent(new TextEncoder().encode(payload), clientId);
    return { envelope: event, event };
  } catch (error) {
    if (error instanceof UnknownWebhookEventError) return { envelope: error.envelope, event: undefined };
    throw new WebhookEventsError('invalid_answer', { cause: error });
  }
};

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

type EventsPage = Infer<typeof eventsPageShape>;
type StoredEvent = EventsPage['data'][number];

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
