import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { type Destination, DestinationError } from './destination.ts';
import { isPublicAddress } from './public-address.ts';

/** Returns all addresses of a name, which may be none. Rejects if the look-up fails. */
export type Lookup = (host: string, options: { isAllowTarget: boolean; signal: AbortSignal }) => Promise<string[]>;

/** A destination with the only addresses that may be connected to. */
export interface CheckedDestination {
  readonly destination: Destination;
  readonly addresses: readonly LookupAddress[];
}

/** `.localhost` is loopback regardless of the resolver (RFC 6761 section 6.3). */
const LOCALHOST = /(^|\.)localhost\.?$/;

/**
 * Resolves a destination once and checks every address; an IP address needs no look-up. Throws DestinationError if there is no
 * address or one of them is not public, and the reason of `signal`.
 */
export const checkDestination = async (
  destination: Destination,
  { lookup, signal }: { lookup: Lookup; signal: AbortSignal },
): Promise<CheckedDestination> => {
  const { host, isAllowTarget } = destination;
  if (destination.isAddress) return checkAddresses(destination, [host]);
  if (LOCALHOST.test(host) && !isAllowTarget) throw new DestinationError('no_public_address');
  const answers = await lookup(host, { isAllowTarget, signal }).catch((): string[] => {
    signal.throwIfAborted();
    throw new DestinationError('no_public_address');
  });
  signal.throwIfAborted();
  if (answers.length === 0) throw new DestinationError('no_public_address');
  return checkAddresses(destination, answers);
};

const checkAddresses = (destination: Destination, answers: readonly string[]): CheckedDestination => {
  if (!destination.isAllowTarget && !answers.every(isPublicAddress)) throw new DestinationError('no_public_address');
  return { destination, addresses: answers.map((address) => ({ address, family: isIP(address) })) };
};
