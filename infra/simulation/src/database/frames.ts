const HEADER_BYTES = 5;
const LENGTH_BYTES = 4;
/** Messages of the frontend after which the server answers to the end: Query, Sync, and Terminate, which has no answer. */
const ENDS_REQUEST = new Set(['Q', 'S', 'X']);

/** A message of the PostgreSQL protocol (documentation, chapter "Frontend/Backend Protocol"). */
export interface Frame {
  readonly type: string;
  readonly body: Buffer;
  /** The whole message, as it was sent. */
  readonly bytes: Buffer;
}

/** Splits a byte stream into messages. */
export interface FrameReader {
  readonly push: (chunk: Buffer) => readonly Frame[];
}

/** Creates a reader. The first message of a client has no type: it is the startup message. */
export const createFrameReader = ({ isClient }: { readonly isClient: boolean }): FrameReader => {
  let rest: Buffer = Buffer.alloc(0);
  let awaitsStartup = isClient;
  return {
    push: (chunk) => {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const frames: Frame[] = [];
      let offset = 0;
      for (;;) {
        const head = awaitsStartup ? 0 : 1;
        if (rest.length < offset + head + LENGTH_BYTES) break;
        const end = offset + head + rest.readUInt32BE(offset + head);
        if (rest.length < end) break;
        const type = awaitsStartup ? 'startup' : String.fromCharCode(rest.readUInt8(offset));
        const bytes = rest.subarray(offset, end);
        frames.push({ type, bytes, body: bytes.subarray(awaitsStartup ? LENGTH_BYTES : HEADER_BYTES) });
        awaitsStartup = false;
        offset = end;
      }
      rest = rest.subarray(offset);
      return frames;
    },
  };
};

/** Returns true if a message of a client completes a request. */
export const endsRequest = ({ type }: Frame): boolean => type === 'startup' || ENDS_REQUEST.has(type);

/** Returns the SQL of a Query or Parse message, or the statement that a Bind message names, for the trace. */
export const textOf = ({ type, body }: Frame): string | undefined => {
  if (type === 'Q') return readText(body, 0);
  if (type === 'P') return readText(body, readText(body, 0).length + 1);
  if (type === 'B') return `:${readText(body, readText(body, 0).length + 1)}`;
  return undefined;
};

const REAL_TIME_LIMITS = new Set(['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']);

/** Returns a startup message without the limits that PostgreSQL would measure in real time. */
export const withoutLimits = ({ body }: Frame): Buffer => {
  const version = body.subarray(0, LENGTH_BYTES);
  const words = body.toString('utf8', LENGTH_BYTES).split('\0');
  const kept: string[] = [];
  for (let place = 0; place + 1 < words.length && words[place] !== ''; place += 2) {
    if (!REAL_TIME_LIMITS.has(words[place] ?? '')) kept.push(`${words[place]}\0${words[place + 1]}\0`);
  }
  const parameters = Buffer.from(`${kept.join('')}\0`);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(2 * LENGTH_BYTES + parameters.length);
  return Buffer.concat([length, version, parameters]);
};

/** Fields of an error or a notice. */
export interface ServerMessage {
  readonly code: string;
  readonly message: string;
  readonly detail: string;
}

/** Reads an ErrorResponse or a NoticeResponse. */
export const readServerMessage = ({ body }: Frame): ServerMessage => {
  const fields = new Map<string, string>();
  for (const field of body.toString('utf8').split('\0')) fields.set(field.slice(0, 1), field.slice(1));
  return { code: fields.get('C') ?? '', message: fields.get('M') ?? '', detail: fields.get('D') ?? '' };
};

const readText = (body: Buffer, from: number): string => {
  const end = body.indexOf(0, from);
  return body.toString('utf8', from, end === -1 ? body.length : end);
};
