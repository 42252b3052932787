import { hash, verify } from '@node-rs/argon2';
import type { JudgedPassword, PasswordFault } from '@svc/password-strength';
import { passwordContext } from '@svc/password-strength/context';
import { invalidField, type Logger } from '@svc/service-kit';
import { Piscina } from 'piscina';
import { createBoundedQueue, createKeyedQueues } from '../bounded-queue.ts';
import { MINUTE_MS } from '../time.ts';
import type { AccountRecord } from './account.ts';

/** `Algorithm.Argon2id`: the library declares it as a const enum, which single-file compilation cannot read. */
const ARGON2ID = 2;
/** OWASP's first choice of parameters for argon2id: 19 MiB, two passes, one lane. */
const PARAMETERS = { algorithm: ARGON2ID, memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Waiting hashes for each running one: about two seconds of work. */
const WAITING_PER_RUNNING_MAX = 64;

/** Hashes passwords on other threads, with bounded concurrency. */
export interface PasswordHasher {
  /** Throws `service_unavailable` if too many hashes wait. */
  readonly hash: (password: string) => Promise<string>;
  /**
   * Returns true if the password matches. Without a hash it does the same work and returns false. Callers with one `turn`, such as
   * a source, wait for each other, so that others wait behind few of them.
   */
  readonly verify: (passwordHash: string | undefined, password: string, turn: string) => Promise<boolean>;
}

/** Creates a hasher. `concurrency` bounds memory (19 MiB each) and the threads it takes from other work. */
export const createPasswordHasher = async (concurrency: number): Promise<PasswordHasher> => {
  const limits = {
    runningMax: concurrency,
    waitingMax: concurrency * WAITING_PER_RUNNING_MAX,
    refusal: 'Too many people are signing in. Try again in a moment.',
  };
  const limit = createBoundedQueue(limits);
  const inTurn = createKeyedQueues(limits);
  // Matches no password, so that an unknown address costs the same work as a known one.
  const decoy = await hash(crypto.randomUUID(), PARAMETERS);
  return {
    hash: (password) => limit(() => hash(canonical(password), PARAMETERS)),
    verify: (passwordHash, password, turn) => {
      const work = async (): Promise<boolean> => {
        const fits = await verify(passwordHash ?? decoy, canonical(password));
        return fits && passwordHash !== undefined;
      };
      return inTurn(turn, () => limit(work));
    },
  };
};

/**
 * Normalizes a password: two keyboards may produce different code points for the same text (NIST SP 800-63B section
 * 5.1.1.2).
 */
const canonical = (password: string): string => password.normalize('NFKC');

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
