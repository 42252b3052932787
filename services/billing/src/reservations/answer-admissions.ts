import type { ServerResponse } from 'node:http';
import type { Admission, AdmissionLine, AdmissionRequest } from '@svc/contracts';
import { AppError, invalidField, type Logger } from '@svc/service-kit';

/** Who asks, and what decides. */
export interface AdmissionsAnswer {
  readonly res: ServerResponse;
  readonly log: Logger;
  readonly admit: (request: AdmissionRequest) => Promise<Admission>;
}

/**
 * Decides on requests that came in one call, and writes each decision as soon as it is made. A request that fails has a line with
 * its error, behind the first decision; throws that error, with nothing written, where no request is decided.
 */
export const answerAdmissions = async (
  { res, log, admit }: AdmissionsAnswer,
  requests: readonly (AdmissionRequest | null)[],
): Promise<void> => {
  let lines = '';
  let isDecided = false;
  let isWoken = false;
  let failure: unknown;
  // Decisions of one group come in one turn of the event loop, and leave in one piece.
  const flush = (): void => {
    isWoken = false;
    if (!isDecided || lines === '' || res.destroyed) return;
    if (!res.headersSent) res.writeHead(200, { 'content-type': 'application/x-ndjson' });
    res.write(lines);
    lines = '';
  };
  const add = (line: AdmissionLine): void => {
    lines += `${JSON.stringify(line)}\n`;
    if (!isWoken) setImmediate(flush);
    isWoken = true;
  };
  await Promise.all(
    requests.map((request, place) =>
      decide(admit, request).then(
        (admission) => {
          isDecided = true;
          add({ place, admission });
        },
        (error: unknown) => {
          failure = error;
          if (!(error instanceof AppError)) log.error({ err: error }, 'an admission failed');
          add({ place, error: error instanceof AppError ? error.code : 'internal_error' });
        },
      ),
    ),
  );
  if (!isDecided) throw failure;
  if (res.destroyed) return;
  if (!res.headersSent) {
    res.writeHead(200, { 'content-type': 'application/x-ndjson', 'content-length': Buffer.byteLength(lines) });
  }
  res.end(lines);
  lines = '';
};

const decide = async (admit: AdmissionsAnswer['admit'], request: AdmissionRequest | null): Promise<Admission> => {
  if (request === null) throw invalidField(['body', 'admissions'], 'value_error', 'Value error, no such admission');
  return await admit(request);
};
