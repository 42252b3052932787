import { hash, verify } from '@node-rs/argon2';
import { createBoundedQueue } from '../bounded-queue.ts';

/** `Algorithm.Argon2id`: the library declares it as a const enum, which single-file compilation cannot read. */
const ARGON2ID = 2;
/** OWASP's first choice of parameters for argon2id: 19 MiB, two passes, one lane. */
const PARAMETERS = { algorithm: ARGON2ID, memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Hashes that may wait, for each that may run: about two seconds of work. */
const WAITING_PER_RUNNING_MAX = 64;

/** Hashes passwords on other threads, a bounded number at a time. */
export interface PasswordHasher {
  /** Throws `service_unavailable` when too many are waiting already. */
  readonly hash: (password: string) => Promise<string>;
  /** Says whether the password fits. Without a hash it works just as long and says no. */
  readonly verify: (passwordHash: string | undefined, password: string) => Promise<boolean>;
}

/** Creates a hasher; `concurrency` bounds memory (19 MiB each) and the threads that others need too. */
export const createPasswordHasher = async (concurrency: number): Promise<PasswordHasher> => {
  const limit = createBoundedQueue({
    runningMax: concurrency,
    waitingMax: concurrency * WAITING_PER_RUNNING_MAX,
    refusal: 'Too many people are signing in. Try again in a moment.',
  });
  // What no password fits: an unknown address costs the same work as a known one.
  const decoy = await hash(crypto.randomUUID(), PARAMETERS);
  return {
    hash: (password) => limit(() => hash(canonical(password), PARAMETERS)),
    verify: (passwordHash, password) =>
      limit(async () => {
        const fits = await verify(passwordHash ?? decoy, canonical(password));
        return fits && passwordHash !== undefined;
      }),
  };
};

/** The same text typed on two keyboards may differ in its code points (NIST SP 800-63B section 5.1.1.2). */
const canonical = (password: string): string => password.normalize('NFKC');
