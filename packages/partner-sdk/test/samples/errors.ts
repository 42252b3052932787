import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionEndedError, OutcomeUnknownError, SvcError, ValidationFailedError } from '@svc/partner-sdk';

/** Returns a message for the user, or undefined if the call has succeeded. */
export const callWithCare = async (call: () => Promise<unknown>): Promise<string | undefined> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await call();
      return undefined;
    } catch (error) {
      if (error instanceof ConnectionEndedError) return 'Please connect again.';
      if (!(error instanceof SvcError)) throw error;
      if (error instanceof ValidationFailedError) throw error; // A bug of ours: `error.faults` names the fields.
      if (error instanceof OutcomeUnknownError)
        return `Unclear; look at the usage of ${error.requestId ?? 'the last minutes'} first.`;
      if (error.isRetryable && attempt < 3) {
        await sleep((error.retryAfterSeconds ?? 2 ** attempt) * 1000);
        continue;
      }
      if (error.resetsAt !== undefined) return `Used up until ${error.resetsAt.toISOString()}.`;
      return error.message;
    }
  }
};
