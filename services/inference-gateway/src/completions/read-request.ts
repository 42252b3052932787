import type { IncomingMessage } from 'node:http';
import { AppError, invalidRequest } from '@svc/service-kit';
import type { InferenceDeps } from '../inference-deps.ts';
import { readJsonBody } from '../large-json/index.ts';
import { FORWARDED_MEMBERS } from '../providers/index.ts';
import type { RequestBody, RequestDigest, RequestKind } from '../wire/index.ts';

/** A request in memory. */
export interface CompletionRequest extends RequestDigest {
  /** Throws once the request is released. */
  readonly body: () => RequestBody;
  /** Drops the bytes, when no route may be tried any more. */
  readonly release: () => void;
}

/** Whose request is read, and as what. */
export interface RequestSource {
  readonly req: IncomingMessage;
  readonly userId: string;
  readonly kind: RequestKind;
}

/** Reads a JSON request. Throws the 422 of the contract, or the errors of `readJsonBody`. */
export const readRequest = async (
  deps: Pick<InferenceDeps, 'json' | 'requestMemory'>,
  { req, userId, kind }: RequestSource,
): Promise<CompletionRequest> => {
  const text = await readJsonBody(req, { budget: deps.requestMemory, account: userId });
  try {
    if (text.bytes.length === 0) throw invalidRequest([{ loc: ['body'], type: 'missing', msg: 'Field required' }]);
    const { bytes, result } = await deps.json.run('digestRequest', text, { kind, members: FORWARDED_MEMBERS });
    if (!result.ok) throw invalidRequest(result.issues);
    return holdRequest(result.digest, bytes, text.release);
  } catch (error) {
    text.release();
    // The text is lost with the worker that had it.
    throw error instanceof AppError ? error : new AppError('service_unavailable', undefined, { cause: error });
  }
};

const holdRequest = (digest: RequestDigest, bytes: Buffer, giveBack: () => void): CompletionRequest => {
  let body: RequestBody | undefined = { bytes, span: digest.span, streamOptions: digest.streamOptions };
  return {
    ...digest,
    body: () => {
      if (body === undefined) throw new Error('the request is forwarded after its release');
      return body;
    },
    release: () => {
      body = undefined;
      giveBack();
    },
  };
};
