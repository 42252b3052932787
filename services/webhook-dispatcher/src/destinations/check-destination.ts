import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { type Destination, DestinationError } from './destination.ts';
import { isPublicAddress } from './public-address.ts';

/** Answers all addresses of a name, none for a name without any. Rejects when it cannot be told. */
export type Lookup = (host: string, options: { isAllowTarget: boolean; signal: AbortSignal }) => Promise<string[]>;

/** A destination with the addresses to which, and only to which, it may be connected. */
export interface CheckedDestination {
  readonly destination: Destination;
  readonly addresses: readonly LookupAddress[];
}

/** `.localhost` is loopback, whatever a resolver says (RFC 6761 section 6.3). */
const LOCALHOST = /(^|\.)localhost\.?$/;

/**
 * Resolves a destination once and judges every address; an IP address is judged without any look-up. Throws
 * DestinationError, also when there is no answer or one of several answers is not public, and `signal`'s reason.
 */
export const checkDestination = async (
  destination: Destination,
  { lookup, signal }: { lookup: Lookup; signal: AbortSignal },
): Promise<CheckedDestination> => {
  const { host, isAllowTarget } = destination;
  if (destination.isAddress) return judge(destination, [host]);
  if (LOCALHOST.test(host) && !isAllowTarget) throw new DestinationError('no_public_address');
  const answers = await lookup(host, { isAllowTarget, signal }).catch((): string[] => {
    signal.throwIfAborted();
    throw new DestinationError('no_public_address');
  });
  signal.throwIfAborted();
  if (answers.length === 0) throw new DestinationError('no_public_address');
  return judge(destination, answers);
};

const judge = (destination: Destination, answers: readonly string[]): CheckedDestination => {
  if (!destination.isAllowTarget && !answers.every(isPublicAddress)) throw new DestinationError('no_public_address');
  return { destination, addresses: answers.map((address) => ({ address, family: isIP(address) })) };
};
