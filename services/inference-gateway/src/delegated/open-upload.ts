import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { Logger } from '@svc/service-kit';
import { sendToRoute, type UpstreamAnswer, type UpstreamDeps, UpstreamFailure } from '../providers/index.ts';
import type { AudioRoute } from '../routes/index.ts';

/** Bytes that may wait for the provider to take them, on each of the two sides of the body. */
const BUFFER_BYTES = 128 * 1024;

/** A request to a provider whose body is still being sent. */
export interface Upload {
  /**
   * Takes the bytes over. Resolves when there is room for more, or when the provider wants no more; one that takes nothing for
   * too long is given up.
   */
  readonly write: (bytes: Buffer | string) => Promise<void>;
  /** Sends the end of the body, unless the provider has ended the request by now, and answers the head of a 200. Throws UpstreamFailure. */
  readonly finish: (lastBytes: string) => Promise<UpstreamAnswer>;
  /** Breaks the request off, unless it is complete: a provider that has not had the whole body serves nothing. */
  readonly abort: () => void;
  /** Whether the end of the body was sent, so that the provider may have served the request. */
  readonly isComplete: () => boolean;
  /** Throws UpstreamFailure where the provider has refused, failed or answered before it had the whole body. */
  readonly checkEarlyEnd: () => Promise<void>;
}

/** Opens a request whose body is written piece by piece, as fast as the provider takes it. */
export const openUpload = (
  deps: UpstreamDeps,
  { route, contentType, log }: { readonly route: AudioRoute; readonly contentType: string; readonly log: Logger },
): Upload => {
  const body = new PassThrough({ highWaterMark: BUFFER_BYTES });
  // A provider that answers early closes the body; that is told by its answer.
  body.on('error', () => {});
  const waiting = new AbortController();
  let isOver = false;
  let isComplete = false;
  const answer = sendToRoute(deps, {
    route,
    endpoint: '/audio/transcriptions',
    body,
    contentType,
    isStreamed: false,
    logging: { log },
    giveUp: waiting.signal,
  });
  const over = answer.then(
    () => {},
    () => {},
  );
  void over.then(() => {
    isOver = true;
  });
  const giveUpLater = (): NodeJS.Timeout => setTimeout(() => waiting.abort(), deps.upstreamLimits.firstByteTimeoutMs);
  /** Without the end of the body the provider has certainly served nothing, whatever it says. */
  const failEarly = async (): Promise<never> => {
    const early = await answer.catch((error: unknown) => {
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
      const timer = giveUpLater();
      await Promise.race([once(body, 'drain', { signal: stop.signal }).catch(() => {}), over]);
      clearTimeout(timer);
      stop.abort();
    },
    finish: async (lastBytes) => {
      if (isOver || body.destroyed) return await failEarly();
      isComplete = true;
      body.end(lastBytes);
      // The provider's time begins when it has everything: callers may upload as slowly as they like.
      const timer = giveUpLater();
      return await answer.finally(() => clearTimeout(timer));
    },
    abort: () => {
      if (!isComplete) body.destroy(new UpstreamFailure('lost'));
    },
  };
};
