import type { JudgedPassword, PasswordFault } from '@svc/password-strength';
import { passwordContext } from '@svc/password-strength/context';
import { invalidField, type Logger } from '@svc/service-kit';
import { Piscina } from 'piscina';
import { createBoundedQueue } from '../bounded-queue.ts';
import { MINUTE_MS } from '../time.ts';
import type { AccountRecord } from './account.ts';

/** The dictionaries take about 80 MB, so an idle worker exits and frees them. */
const WORKER_IDLE_MS = 10 * MINUTE_MS;
/** The event loop has priority if cores are scarce. */
const WORKER_NICE = 10;
/** The number of sign-ups that may wait. */
const WAITING_MAX = 256;
const MESSAGES: Readonly<Record<PasswordFault, string>> = {
  common: 'this password is one of the most common ones',
  own: 'the password must not be made of the address or the name',
  guessable: 'this password is too easy to guess',
};

type Owner = Pick<AccountRecord, 'email' | 'displayName' | 'businessName'>;

/** Judges new passwords in a worker thread. Beyond its length, a password only has to be hard to guess. */
export interface PasswordRules {
  /** Throws 422 at the field `name` of the body if the password is easily guessed, and `service_unavailable`. */
  readonly check: (password: string, owner: Owner, name: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Creates the rules; `workerFile` is the URL of the worker's module. The first password starts the worker. */
export const createPasswordRules = ({ workerFile, logger }: { workerFile: string; logger: Logger }): PasswordRules => {
  const queue = createBoundedQueue({
    runningMax: 1,
    waitingMax: WAITING_MAX,
    refusal: 'Too many people are choosing a password. Try again in a moment.',
  });
  const pool = new Piscina<JudgedPassword, PasswordFault | undefined>({
    filename: workerFile,
    name: 'run',
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: WORKER_IDLE_MS,
    niceIncrement: WORKER_NICE,
  });
  pool.on('error', (error: unknown) => logger.error({ err: error }, 'the password worker failed'));
  return {
    check: async (password, owner, name) => {
      const fault = await queue(() => pool.run({ password, context: passwordContext(owner) }));
      if (fault !== undefined) throw invalidField(['body', name], 'value_error', `Value error, ${MESSAGES[fault]}`);
    },
    close: () => pool.close({ force: true }),
  };
};
