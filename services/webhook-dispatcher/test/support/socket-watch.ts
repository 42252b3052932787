import diagnostics from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { isPublicAddress } from '../../src/destinations/index.ts';

/** Every address to which this process has tried to connect since the watch began. */
export interface SocketWatch {
  readonly addresses: string[];
  nonPublic(): string[];
  stop(): void;
}

/** Watches below all our code: Node itself tells of each client socket, and the socket of each connection attempt. */
export const watchSockets = (): SocketWatch => {
  const addresses: string[] = [];
  const onSocket = (message: unknown): void => {
    // The channel's message is declared as unknown; Node documents it as `{socket}`.
    const { socket } = message as { socket: Socket };
    socket.on('connectionAttempt', (address: string) => addresses.push(address));
  };
  diagnostics.subscribe('net.client.socket', onSocket);
  return {
    addresses,
    nonPublic: () => addresses.filter((address) => !isPublicAddress(address)),
    stop: () => diagnostics.unsubscribe('net.client.socket', onSocket),
  };
};
