import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { freePort } from './servers/free-port.ts';

/** Records of a name: TXT records in their chunks, and IPv4 addresses. */
interface DnsRecords {
  readonly txt?: readonly (readonly string[])[];
  readonly addresses?: readonly string[];
}

interface DnsQuestion {
  /** Lower case, without a trailing dot. */
  readonly name: string;
  readonly type: 'A' | 'TXT' | 'other';
  /** Bytes of the header and the question. */
  readonly endsAt: number;
}

/** Response codes (RFC 1035 section 4.1.1). */
const DNS_CODES = { ok: 0, servfail: 2, nxdomain: 3, refused: 5 } as const;

const HEADER_BYTES = 12;
const TYPES = new Map<number, DnsQuestion['type']>([
  [1, 'A'],
  [16, 'TXT'],
]);
/** No client may keep an answer: the next one may differ. */
const TTL_SECONDS = 0;
/** Pointer to the name of the question (RFC 1035 section 4.1.4). */
const NAME_POINTER = 0xc000 | HEADER_BYTES;
const FLAG_RESPONSE = 0x8000;
const FLAG_AUTHORITATIVE = 0x0400;
const FLAG_TRUNCATED = 0x0200;
const FLAG_RECURSION = 0x0100;

/** Reads the only question of a query. */
const readDnsQuestion = (query: Buffer): DnsQuestion => {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let bytes = query.readUInt8(at); bytes > 0; bytes = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + bytes));
    at += 1 + bytes;
  }
  const type = TYPES.get(query.readUInt16BE(at + 1)) ?? 'other';
  return { name: labels.join('.').toLowerCase(), type, endsAt: at + 5 };
};

/** Writes the answer to a query (RFC 1035 section 4). */
const writeDnsAnswer = (
  query: Buffer,
  { type, endsAt }: DnsQuestion,
  { code, records }: { readonly code: number; readonly records: DnsRecords },
): Buffer => {
  const data = type === 'other' ? [] : dataOf(type, records);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(query.readUInt16BE(0), 0);
  header.writeUInt16BE(FLAG_RESPONSE | FLAG_AUTHORITATIVE | (query.readUInt16BE(2) & FLAG_RECURSION) | code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(data.length, 6);
  const question = query.subarray(HEADER_BYTES, endsAt);
  return Buffer.concat([header, question, ...data.map((each) => writeRecord(query, endsAt, each))]);
};

/** Returns the header and question of an answer that is too long for its transport, marked as truncated. */
const truncateDnsAnswer = (answer: Buffer, { endsAt }: DnsQuestion): Buffer => {
  const head = Buffer.from(answer.subarray(0, endsAt));
  head.writeUInt16BE(head.readUInt16BE(2) | FLAG_TRUNCATED, 2);
  head.writeUInt16BE(0, 6);
  return head;
};

const dataOf = (type: 'A' | 'TXT', { txt = [], addresses = [] }: DnsRecords): Buffer[] =>
  type === 'A'
    ? addresses.map((address) => Buffer.from(address.split('.').map(Number)))
    : txt.map((chunks) => Buffer.concat(chunks.flatMap((chunk) => [Buffer.from([chunk.length]), Buffer.from(chunk)])));

/** The record has the name, type and class of the question. */
const writeRecord = (query: Buffer, endsAt: number, data: Buffer): Buffer => {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(NAME_POINTER, 0);
  query.copy(head, 2, endsAt - 4, endsAt);
  head.writeUInt32BE(TTL_SECONDS, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
};

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
