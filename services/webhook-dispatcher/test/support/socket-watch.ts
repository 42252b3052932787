import diagnostics from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { isPublicAddress } from '@svc/destinations';

/** Addresses to which this process has tried to connect. */
export interface SocketWatch {
  readonly addresses: string[];
  readonly nonPublic: () => string[];
  readonly stop: () => void;
}

/** Watches the diagnostics of Node, which reports each client socket and its connection attempts. */
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
