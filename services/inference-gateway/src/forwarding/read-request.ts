import type { IncomingMessage } from 'node:http';
import { AppError, freeBuffer, invalidRequest } from '@svc/service-kit';
import { readJsonBody } from '../large-json/index.ts';
import { FORWARDED_MEMBERS } from '../providers/index.ts';
import { UpstreamFailure } from '../upstream-failure.ts';
import type { RequestBody, RequestDigest, RequestKind } from '../wire/index.ts';
import type { ForwardingDeps } from './forwarding-deps.ts';

/** A request whose body is held in memory. */
export interface HeldRequest extends RequestDigest {
  /**
   * Lends the body to one attempt, which calls `onFlushed` once its connection no longer uses the body. An attempt that
   * never reached a provider gives it back by failing. Throws once the request is released.
   */
  readonly lend: <T>(attempt: (body: RequestBody, onFlushed: () => void) => Promise<T>) => Promise<T>;
  /** Drops the body, which is freed once no connection uses it. Called when no other route will be tried. */
  readonly release: () => void;
}

export interface RequestSource {
  readonly req: IncomingMessage;
  readonly userId: string;
}

type ReadDeps = Pick<ForwardingDeps, 'json' | 'requestMemory'>;

/** Reads a JSON request. Throws the contract's 422, or the errors of `readJsonBody`. */
export const readRequest = (
  deps: ReadDeps,
  { kind, ...source }: RequestSource & { readonly kind: RequestKind },
): Promise<HeldRequest> =>
  receiveRequest(deps, source, async (text) => {
    const { bytes, result } = await deps.json.runAndKeep.digestRequest(text, { kind, members: FORWARDED_MEMBERS });
    if (!result.ok) throw invalidRequest(result.issues);
    return { digest: result.digest, bytes };
  });

/** Receives a JSON body, digests it with `read`, and holds the bytes that `read` returns. */
export const receiveRequest = async (
  deps: ReadDeps,
  { req, userId }: RequestSource,
  read: (text: JsonBody) => Promise<{ readonly digest: RequestDigest; readonly bytes: Buffer }>,
): Promise<HeldRequest> => {
  const text = await readJsonBody(req, { memory: deps.requestMemory, account: userId });
  try {
    if (text.length === 0) throw invalidRequest([{ loc: ['body'], type: 'missing', msg: 'Field required' }]);
    const { digest, bytes } = await read(text);
    return holdRequest(digest, bytes, () => text.room.release());
  } catch (error) {
    text.room.release();
    // A failed worker takes the text with it.
    throw error instanceof AppError ? error : new AppError('service_unavailable', undefined, { cause: error });
  }
};

type JsonBody = Awaited<ReturnType<typeof readJsonBody>>;

/** Smaller bodies are left to garbage collection. */
const FREED_BYTES_MIN = 64 * 1024;

/** Holds a body until it is released and every loan is returned. */
export const holdRequest = (digest: RequestDigest, bytes: Buffer, releaseMemory: () => void): HeldRequest => {
  let body: RequestBody | undefined = { bytes, span: digest.span, streamOptions: digest.streamOptions };
  let connections = 0;
  const freeIfUnused = (): void => {
    if (body === undefined && connections === 0 && bytes.length >= FREED_BYTES_MIN) freeBuffer(bytes);
  };
  return {
    ...digest,
    lend: async (attempt) => {
      if (body === undefined) throw new Error('the request was forwarded after its release');
      connections += 1;
      let isLent = true;
      const giveBack = (): void => {
        if (!isLent) return;
        isLent = false;
        connections -= 1;
        freeIfUnused();
      };
      try {
        return await attempt(body, giveBack);
      } catch (error) {
        // Otherwise the connection may still be writing.
        if (!(error instanceof UpstreamFailure && error.hasReachedProvider)) giveBack();
        throw error;
      }
    },
    release: () => {
      if (body === undefined) return;
      body = undefined;
      releaseMemory();
      freeIfUnused();
    },
  };
};
