import type { IncomingMessage } from 'node:http';
import type { newId } from '@svc/contracts';
import type { Clock } from '@svc/service-kit';
import { endGrant, originOf } from '../connections/index.ts';
import type { Transact } from '../transact.ts';

export interface EndGrantDeps {
  readonly transact: Transact;
  readonly clock: Clock;
  readonly newId: typeof newId;
}

const clientAddresses = new WeakMap<IncomingMessage, string>();

/** Stores the network address of a request, which the library does not pass on. */
export const noteClientAddress = (req: IncomingMessage, clientAddress: string): void => {
  clientAddresses.set(req, clientAddress);
};

/** Returns the network address of a request. */
export const clientAddressOf = (req: IncomingMessage): string => clientAddresses.get(req) ?? '';

/** Ends a grant and appends its revocation. Does nothing if the grant has ended already. */
export const endGrantOfRequest = async (
  deps: EndGrantDeps,
  req: IncomingMessage,
  { grantId, action }: { grantId: string; action: 'token_reused' | 'revoked_by_app' },
): Promise<void> => {
  const origin = originOf(clientAddressOf(req), 'app');
  await deps.transact((trx) => endGrant(deps, trx, grantId, { action, origin, now: deps.clock() }));
};
