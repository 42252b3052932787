import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** TCP proxy to a server. A test can shut it, which breaks its connections and refuses new ones. */
export interface Door {
  /** Address of the server through the proxy. */
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
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    track(client);
    if (!isOpen) {
      client.destroy();
      return;
    }
    const upstream = track(connect(target));
    client.pipe(upstream).pipe(client);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
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
