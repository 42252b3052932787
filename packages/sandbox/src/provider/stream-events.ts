import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Directives } from './directives.ts';
import type { Exchange } from './exchange.ts';

/** A server-sent event. Directives delay and count only events with generated content. */
export interface StreamEvent {
  readonly data: object;
  readonly isContent?: boolean;
}

/**
 * Sends events as `text/event-stream` and ends with `[DONE]`. Applies backpressure and returns early if the client has
 * disconnected; generated content has been billed before.
 */
export const streamEvents = async (
  exchange: Exchange,
  events: Iterable<StreamEvent>,
  directives: Directives,
): Promise<void> => {
  const { res, counter } = exchange;
  counter.answered('200');
  res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  res.flushHeaders();
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  if (res.destroyed) gone.abort();
  const signal = AbortSignal.any([gone.signal, exchange.stopping]);
  try {
    const isFinished = await sendEvents(res, { events, directives, signal });
    if (!isFinished) return;
    if (!directives.no_done) await write(res, 'data: [DONE]\n\n', { directives, signal });
    res.end();
  } catch (error) {
    if (!signal.aborted) throw error;
    res.destroy();
  }
};

interface Sending {
  readonly directives: Directives;
  readonly signal: AbortSignal;
}

const sendEvents = async (
  res: ServerResponse,
  { events, directives, signal }: Sending & { events: Iterable<StreamEvent> },
): Promise<boolean> => {
  let contentChunks = 0;
  for (const event of events) {
    if (event.isContent) {
      if (directives.drop_after === contentChunks) {
        // Flushes written data, then closes the connection in the middle of the body.
        res.socket?.destroySoon();
        return false;
      }
      if (directives.error_after === contentChunks) {
        const error = { message: 'The prompt requested this error.', type: 'server_error', param: null, code: null };
        await write(res, `data: ${JSON.stringify({ error })}\n\n`, { directives, signal });
        res.end();
        return false;
      }
      if (directives.chunk_delay_ms) await sleep(directives.chunk_delay_ms, undefined, { signal });
      contentChunks += 1;
    }
    await write(res, `data: ${JSON.stringify(event.data)}\n\n`, { directives, signal });
  }
  return true;
};

const write = async (res: ServerResponse, text: string, { directives, signal }: Sending): Promise<void> => {
  signal.throwIfAborted();
  const bytes = Buffer.from(text);
  const size = directives.fragment_bytes ?? bytes.length;
  for (let start = 0; start < bytes.length; start += size) {
    const hasRoom = res.write(bytes.subarray(start, start + size));
    if (!hasRoom) await once(res, 'drain', { signal });
    // A turn of the event loop between pieces puts each into a separate packet.
    if (directives.fragment_bytes !== undefined) await sleep(1, undefined, { signal });
  }
};
