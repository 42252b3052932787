import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { Logger } from '@svc/service-kit';
import type { AudioRoute } from '../../provider-routes/index.ts';
import { type RouteRequest, sendToRoute, type UpstreamDeps, type UpstreamResponse } from '../../providers/index.ts';
import { UpstreamFailure } from '../../upstream-failure.ts';

/** Buffer size on each side of the body stream. */
const BUFFER_BYTES = 128 * 1024;

/** Request to a provider with a streamed body. */
interface Upload {
  /**
   * Takes ownership of the bytes. Resolves when the buffer has room again or the provider has ended the request. Times out
   * if the provider accepts nothing.
   */
  readonly write: (bytes: Buffer | string) => Promise<void>;
  /** Sends the end of the body and returns a successful response. Throws UpstreamFailure. */
  readonly finish: (lastBytes: string) => Promise<UpstreamResponse>;
  /** Aborts the request, unless it is complete. A provider without the whole body serves nothing. */
  readonly abort: () => void;
  /** Returns true once the end of the body is sent, as the provider may then serve the request. */
  readonly isComplete: () => boolean;
  /** Throws UpstreamFailure if the provider has ended the request before it had the whole body. */
  readonly checkEarlyEnd: () => Promise<void>;
}

interface UploadOptions extends Pick<RouteRequest, 'keepSpan'> {
  readonly route: AudioRoute;
  readonly contentType: string;
  readonly log: Logger;
}

/** Opens a request whose body is written piece by piece, with backpressure from the provider. */
export const openUpload = (deps: UpstreamDeps, { route, contentType, ...context }: UploadOptions): Upload => {
  const body = new PassThrough({ highWaterMark: BUFFER_BYTES });
  // A provider that answers early closes the body. The response carries the reason.
  body.on('error', () => {});
  const waiting = new AbortController();
  let isOver = false;
  let isComplete = false;
  const response = sendToRoute(deps, {
    route,
    endpoint: '/audio/transcriptions',
    body,
    contentType,
    isStreamed: false,
    logging: context,
    keepSpan: context.keepSpan,
    giveUp: waiting.signal,
  });
  const over = response.then(
    () => {},
    () => {},
  );
  void over.then(() => {
    isOver = true;
  });
  const startTimeout = (): NodeJS.Timeout => setTimeout(() => waiting.abort(), deps.upstreamLimits.firstByteTimeoutMs);
  /** A provider without the end of the body has served nothing, even if it answered 200 or the connection broke. */
  const failEarly = async (): Promise<never> => {
    const early = await response.catch((error: unknown) => {
      const isLost = error instanceof UpstreamFailure && error.isUncertain;
      throw isLost ? new UpstreamFailure('failed', { cause: error }) : error;
    });
    early.abort();
    throw new UpstreamFailure('failed', { status: early.status });
  };
  return {
    isComplete: () => isComplete,
    checkEarlyEnd: async () => {
      if (isOver) await failEarly();
    },
    write: async (bytes) => {
      if (isOver || body.destroyed || body.write(bytes)) return;
      const stop = new AbortController();
      const timer = startTimeout();
      await Promise.race([once(body, 'drain', { signal: stop.signal }).catch(() => {}), over]);
      clearTimeout(timer);
      stop.abort();
    },
    finish: async (lastBytes) => {
      if (isOver || body.destroyed) return await failEarly();
      isComplete = true;
      body.end(lastBytes);
      // The timeout of the provider starts now: a slow upload by the caller must not count against it.
      const timer = startTimeout();
      return await response.finally(() => clearTimeout(timer));
    },
    abort: () => {
      if (!isComplete) body.destroy(new UpstreamFailure('lost'));
    },
  };
};
