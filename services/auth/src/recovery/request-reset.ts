import { randomUUID } from 'node:crypto';
import type { Clock } from '@svc/service-kit';
import { normalizeEmail } from '../accounts/index.ts';
import { seal } from '../encryption-key.ts';
import type { SourceLimit } from '../throttling/index.ts';
import type { Executor } from '../transact.ts';
import { insertResetRequest } from './queries.ts';

export interface RequestResetDeps {
  readonly database: Executor;
  readonly clock: Clock;
  /** Encrypts the addresses of waiting requests. */
  readonly mailKey: Buffer;
  readonly resetLimit: SourceLimit;
  /** Wakes the worker that processes the requests. */
  readonly wakeResets: () => void;
}

/**
 * Stores a request for a new password. The account is looked up later, so the answer and its time are the same for all
 * addresses. Throws `too_many_attempts`.
 */
export const requestReset = async (deps: RequestResetDeps, email: string, source: string): Promise<void> => {
  await deps.resetLimit.take(source);
  const id = randomUUID();
  const sealedEmail = seal(deps.mailKey, Buffer.from(normalizeEmail(email)), id);
  await insertResetRequest(deps.database, { id, sealedEmail, requestedAt: deps.clock() });
  deps.wakeResets();
};
