import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { freePort } from '@svc/embedded-servers';
import { DNS_CODES, type DnsRecords, readDnsQuestion, truncateDnsAnswer, writeDnsAnswer } from './dns-message.ts';

/** Records of a name, a failure that the server answers, or no answer. */
export type DnsAnswer = DnsRecords | 'servfail' | 'refused' | 'silent';

/** A name server on loopback, over UDP and TCP. */
export interface DnsStandIn {
  /** Address for `Resolver.setServers`. */
  readonly address: string;
  /** Questions in the order of arrival, such as `udp TXT acme.test`. */
  readonly questions: readonly string[];
  /** Sets the answer for a name. Names without one do not exist (NXDOMAIN). */
  readonly answer: (name: string, answer: DnsAnswer) => void;
  /** Makes a name nonexistent. */
  readonly forget: (name: string) => void;
  readonly stop: () => Promise<void>;
}

type Transport = 'udp' | 'tcp';

/** Longest answer over UDP without EDNS (RFC 1035 section 2.3.4). Clients ask for the rest of a longer one over TCP. */
const UDP_BYTES_MAX = 512;
const LENGTH_BYTES = 2;
const HOST = '127.0.0.1';

export const dnsStandIn = async (): Promise<DnsStandIn> => {
  const answers = new Map<string, DnsAnswer>();
  const questions: string[] = [];
  const reply = (query: Buffer, transport: Transport): Buffer | undefined => {
    const question = readDnsQuestion(query);
    questions.push(`${transport} ${question.type} ${question.name}`);
    const answer = answers.get(question.name) ?? 'nxdomain';
    if (answer === 'silent') return undefined;
    const outcome =
      typeof answer === 'string' ? { code: DNS_CODES[answer], records: {} } : { code: 0, records: answer };
    const message = writeDnsAnswer(query, question, outcome);
    const isTooLong = transport === 'udp' && message.length > UDP_BYTES_MAX;
    return isTooLong ? truncateDnsAnswer(message, question) : message;
  };
  const port = await freePort();
  const stops = [await serveUdp(port, reply), await serveTcp(port, reply)];
  return {
    address: `${HOST}:${port}`,
    questions,
    answer: (name, answer) => void answers.set(name, answer),
    forget: (name) => void answers.delete(name),
    stop: async () => void (await Promise.all(stops.map((stop) => stop()))),
  };
};

type Reply = (query: Buffer, transport: Transport) => Buffer | undefined;

const serveUdp = async (port: number, reply: Reply): Promise<() => Promise<void>> => {
  const socket = createSocket('udp4', (query, peer) => {
    const answer = reply(query, 'udp');
    if (answer !== undefined) socket.send(answer, peer.port, peer.address);
  });
  socket.bind(port, HOST);
  await once(socket, 'listening');
  return () => new Promise((resolve) => socket.close(() => resolve()));
};

/** Messages over TCP follow their length (RFC 1035 section 4.2.2). */
const serveTcp = async (port: number, reply: Reply): Promise<() => Promise<void>> => {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => undefined);
    let received = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= LENGTH_BYTES) {
        const endsAt = LENGTH_BYTES + received.readUInt16BE(0);
        if (received.length < endsAt) return;
        const answer = reply(received.subarray(LENGTH_BYTES, endsAt), 'tcp');
        received = received.subarray(endsAt);
        if (answer !== undefined) socket.write(withLength(answer));
      }
    });
  });
  server.listen(port, HOST);
  await once(server, 'listening');
  return () =>
    new Promise((resolve) => {
      for (const socket of open) socket.destroy();
      server.close(() => resolve());
    });
};

const withLength = (message: Buffer): Buffer => {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt16BE(message.length, 0);
  return Buffer.concat([length, message]);
};
