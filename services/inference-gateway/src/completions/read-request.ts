import type { IncomingMessage } from 'node:http';
import { AppError, freeBuffer, invalidRequest } from '@svc/service-kit';
import type { InferenceDeps } from '../inference-deps.ts';
import { readJsonBody } from '../large-json/index.ts';
import { FORWARDED_MEMBERS } from '../providers/index.ts';
import type { RequestBody, RequestDigest, RequestKind } from '../wire/index.ts';

/** A request whose body is held in memory. */
export interface CompletionRequest extends RequestDigest {
  /** Lends the body to a connection. Throws once the request is released. */
  readonly lend: () => RequestBody;
  /** Returns the body that a connection has sent. */
  readonly giveBack: () => void;
  /** Drops the body. Called when no other route will be tried. */
  readonly release: () => void;
}

export interface RequestSource {
  readonly req: IncomingMessage;
  readonly userId: string;
}

type ReadDeps = Pick<InferenceDeps, 'json' | 'requestMemory'>;

/** Reads a JSON request. Throws the contract's 422, or the errors of `readJsonBody`. */
export const readRequest = (
  deps: ReadDeps,
  { kind, ...source }: RequestSource & { readonly kind: RequestKind },
): Promise<CompletionRequest> =>
  receiveRequest(deps, source, async (text) => {
    const { bytes, result } = await deps.json.runAndKeep('digestRequest', text, { kind, members: FORWARDED_MEMBERS });
    if (!result.ok) throw invalidRequest(result.issues);
    return { digest: result.digest, bytes };
  });

/** Receives a JSON body, digests it with `read`, and holds the bytes that `read` returns. */
export const receiveRequest = async (
  deps: ReadDeps,
  { req, userId }: RequestSource,
  read: (text: JsonBody) => Promise<{ readonly digest: RequestDigest; readonly bytes: Buffer }>,
): Promise<CompletionRequest> => {
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

const holdRequest = (digest: RequestDigest, bytes: Buffer, releaseMemory: () => void): CompletionRequest => {
  let body: RequestBody | undefined = { bytes, span: digest.span, streamOptions: digest.streamOptions };
  let connections = 0;
  const freeIfUnused = (): void => {
    if (body === undefined && connections === 0 && bytes.length >= FREED_BYTES_MIN) freeBuffer(bytes);
  };
  return {
    ...digest,
    lend: () => {
      if (body === undefined) throw new Error('the request was forwarded after its release');
      connections += 1;
      return body;
    },
    giveBack: () => {
      connections -= 1;
      freeIfUnused();
    },
    release: () => {
      if (body === undefined) return;
      body = undefined;
      releaseMemory();
      freeIfUnused();
    },
  };
};
