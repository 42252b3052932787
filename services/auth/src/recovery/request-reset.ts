import { randomUUID } from 'node:crypto';
import type { Sealer } from '@svc/secrets';
import type { Clock } from '@svc/service-kit';
import { normalizeEmail } from '../accounts/index.ts';
import type { SourceLimit } from '../throttling/index.ts';
import type { Executor } from '../transact.ts';
import { insertResetRequest } from './queries.ts';

export interface RequestResetDeps {
  readonly database: Executor;
  readonly clock: Clock;
  /** Encrypts the addresses of waiting requests. */
  readonly mailSealer: Sealer;
  readonly resetLimit: SourceLimit;
  /** Wakes the worker that processes the requests. */
  readonly wakeResets: () => void;
}

/** A request, as stored encrypted. */
export interface ResetRequest {
  readonly email: string;
  /** Device token of the request: a device known to the account has a separate budget. */
  readonly deviceToken: string | undefined;
}

/**
 * Stores a request for a new password. The account is looked up later, so the answer and its time are the same for all
 * addresses. Throws `too_many_attempts`.
 */
export const requestReset = async (
  deps: RequestResetDeps,
  { email, deviceToken }: ResetRequest,
  source: string,
): Promise<void> => {
  await deps.resetLimit.take(source);
  const id = randomUUID();
  const request: ResetRequest = { email: normalizeEmail(email), deviceToken };
  const sealedRequest = deps.mailSealer.seal(Buffer.from(JSON.stringify(request)), id);
  await insertResetRequest(deps.database, { id, sealedRequest, requestedAt: deps.clock() });
  deps.wakeResets();
};
