import { AppError, invalidRequest } from '@svc/service-kit';
import { type CompletionRequest, type RequestSource, receiveRequest } from '../../completions/index.ts';
import type { InferenceDeps } from '../../inference-deps.ts';
import { FORWARDED_MEMBERS } from '../../providers/index.ts';
import type { ResponseEcho } from './response-echo.ts';

/** A request of the Responses format, translated to a chat request. */
export interface HeldResponseRequest {
  readonly request: CompletionRequest;
  readonly echo: ResponseEcho;
}

/** Reads a request of the Responses format. Throws `unsupported_parameter`, or the errors of `readRequest`. */
export const readResponseRequest = async (
  deps: Pick<InferenceDeps, 'json' | 'requestMemory'>,
  source: RequestSource,
): Promise<HeldResponseRequest> => {
  let echo: ResponseEcho = '';
  const request = await receiveRequest(deps, source, async (text) => {
    const reading = await deps.json.run('digestResponseRequest', text, { members: FORWARDED_MEMBERS });
    if (reading.ok) {
      echo = reading.echo;
      return { digest: reading.digest, bytes: reading.body };
    }
    if ('issues' in reading) throw invalidRequest(reading.issues);
    const { param, message } = reading.unsupported;
    throw new AppError('unsupported_parameter', message, { details: { param } });
  });
  return { request, echo };
};
