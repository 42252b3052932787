/** Records of a name: TXT records in their chunks, and IPv4 addresses. */
export interface DnsRecords {
  readonly txt?: readonly (readonly string[])[];
  readonly addresses?: readonly string[];
}

export interface DnsQuestion {
  /** Lower case, without a trailing dot. */
  readonly name: string;
  readonly type: 'A' | 'TXT' | 'other';
  /** Bytes of the header and the question. */
  readonly endsAt: number;
}

/** Response codes (RFC 1035 section 4.1.1). */
export const DNS_CODES = { ok: 0, servfail: 2, nxdomain: 3, refused: 5 } as const;

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
export const readDnsQuestion = (query: Buffer): DnsQuestion => {
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
export const writeDnsAnswer = (
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
export const truncateDnsAnswer = (answer: Buffer, { endsAt }: DnsQuestion): Buffer => {
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
