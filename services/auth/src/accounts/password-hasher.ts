import { hash, verify } from '@node-rs/argon2';
import { createBoundedQueue } from '../bounded-queue.ts';

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
  /** Returns true if the password matches. Without a hash it does the same work and returns false. */
  readonly verify: (passwordHash: string | undefined, password: string) => Promise<boolean>;
}

/** Creates a hasher. `concurrency` bounds memory (19 MiB each) and the threads it takes from other work. */
export const createPasswordHasher = async (concurrency: number): Promise<PasswordHasher> => {
  const limit = createBoundedQueue({
    runningMax: concurrency,
    waitingMax: concurrency * WAITING_PER_RUNNING_MAX,
    refusal: 'Too many people are signing in. Try again in a moment.',
  });
  // Matches no password, so that an unknown address costs the same work as a known one.
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

/**
 * Normalizes a password: two keyboards may produce different code points for the same text (NIST SP 800-63B section
 * 5.1.1.2).
 */
const canonical = (password: string): string => password.normalize('NFKC');
