import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a server that a test can shut: what goes through it breaks off, and nothing new gets in. */
export interface Door {
  /** The server's address, through the door. */
  readonly url: string;
  readonly shut: () => void;
  readonly open: () => void;
  readonly remove: () => Promise<void>;
}

export const openDoor = async (serverUrl: string): Promise<Door> => {
  const url = new URL(serverUrl);
  const target = { host: url.hostname, port: Number(url.port) };
  const sockets = new Set<Socket>();
  let isOpen = true;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  const server = createServer((inside) => {
    keep(inside);
    if (!isOpen) {
      inside.destroy();
      return;
    }
    const outside = keep(connect(target));
    inside.pipe(outside).pipe(inside);
    inside.on('close', () => outside.destroy());
    outside.on('close', () => inside.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server always has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  url.hostname = '127.0.0.1';
  url.port = String(port);
  const breakOff = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    shut: () => {
      isOpen = false;
      breakOff();
    },
    open: () => {
      isOpen = true;
    },
    remove: async () => {
      breakOff();
      server.close();
      await once(server, 'close');
    },
  };
};
