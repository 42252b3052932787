import type { Admission, AdmissionLine, AdmissionRequest } from '@svc/contracts';
import { AppError, type ChannelCall, invalidField } from '@svc/service-kit';

/** Decides on one request. */
export type Admit = (request: AdmissionRequest) => Promise<Admission>;

/** Questions of one call. */
export interface Questions {
  readonly admissions: readonly (AdmissionRequest | null)[];
}

/**
 * Decides on requests that came in one call, and writes each decision as soon as it is made. A request that fails has a line with
 * its error, behind the first decision; throws that error, with nothing written, where no request is decided.
 */
export const answerAdmissions = async (call: ChannelCall<Questions>, admit: Admit): Promise<void> => {
  let lines = '';
  let isDecided = false;
  let isWoken = false;
  let failure: unknown;
  // Decisions of one group come in one turn of the event loop, and leave in one piece.
  const flush = (): void => {
    isWoken = false;
    if (!isDecided || lines === '' || !call.isOpen()) return;
    call.write(lines);
    lines = '';
  };
  const add = (line: AdmissionLine): void => {
    lines += `${JSON.stringify(line)}\n`;
    if (!isWoken) setImmediate(flush);
    isWoken = true;
  };
  await Promise.all(
    call.question.admissions.map((request, place) =>
      decide(admit, request).then(
        (admission) => {
          isDecided = true;
          add({ place, admission });
        },
        (error: unknown) => {
          failure = error;
          if (!(error instanceof AppError)) call.log.error({ err: error }, 'an admission failed');
          add({ place, error: error instanceof AppError ? error.code : 'internal_error' });
        },
      ),
    ),
  );
  if (!isDecided) throw failure;
  flush();
};

const decide = async (admit: Admit, request: AdmissionRequest | null): Promise<Admission> => {
  if (request === null) throw invalidField(['body', 'admissions'], 'value_error', 'Value error, no such admission');
  return await admit(request);
};
