/** Fills the members of a request after `model` with about `bytes` bytes of JSON. */
type FillBody = (bytes: number) => string;

/** Repeats an item, separated by commas, up to about `bytes` bytes. */
const listOf = (item: string, bytes: number): string =>
  `${`${item},`.repeat(Math.max(0, Math.floor(bytes / (item.length + 1)) - 1))}${item}`;

const MESSAGE = '{"role":"user","content":"Where does the sun rise?"}';
const messageOf = (content: string): string => `"messages":[{"role":"user","content":${content}}]`;

/** Renders distinct numbers, so that no parser can share them. */
const numbers = (bytes: number): string => {
  const texts: string[] = [];
  for (let length = 0; length < bytes; length += (texts.at(-1)?.length ?? 0) + 1) texts.push(String(texts.length % 10));
  return texts.join(',');
};

const keys = (bytes: number): string => {
  const members: string[] = [];
  for (let length = 0; length < bytes; length += (members.at(-1)?.length ?? 0) + 1) {
    members.push(`"k${members.length.toString(36)}":1`);
  }
  return members.join(',');
};

/** Bodies designed to be expensive, and honest ones. */
const FILLERS = {
  'empty objects': (bytes) => `"messages":[${listOf('{}', bytes)}]`,
  'distinct keys': (bytes) => `"messages":[${MESSAGE}],${keys(bytes)}`,
  numbers: (bytes) => `"messages":[${MESSAGE}],"logit_bias":[${numbers(bytes)}]`,
  'deep nesting': (bytes) => messageOf(`${'['.repeat(bytes / 2)}${']'.repeat(bytes / 2)}`),
  'nesting within bounds': (bytes) =>
    `"messages":[${MESSAGE}],"tools":[${listOf(`${'['.repeat(60)}"${'x'.repeat(4_000)}"${']'.repeat(60)}`, bytes)}]`,
  'one string': (bytes) => messageOf(`"${'x'.repeat(bytes)}"`),
  'one string beyond latin1': (bytes) => messageOf(`"${'語'.repeat(bytes / 3)}"`),
  'many strings': (bytes) => `"messages":[${MESSAGE}],"stop":[${listOf('"abcdef"', bytes)}]`,
  'many strings within bounds': (bytes) => `"messages":[${listOf(messageOfLength(bytes / 150_000), bytes)}]`,
  escapes: (bytes) => messageOf(`"${'\\u00e9\\n'.repeat(bytes / 8)}"`),
} as const satisfies Readonly<Record<string, FillBody>>;

/** Renders a message of three values, so that a list of 150,000 stays within the limits of a body. */
const messageOfLength = (bytes: number): string => {
  const frame = '{"role":"user","content":""}';
  return `{"role":"user","content":"${'y'.repeat(Math.max(1, Math.floor(bytes) - frame.length - 1))}"}`;
};

export type BodyShape = keyof typeof FILLERS;

export const BODY_SHAPES: readonly BodyShape[] = Object.keys(FILLERS) as BodyShape[];

/** Builds a body of about `bytes` bytes; `first` is the text of the leading members, with its comma. */
export const buildBody = (shape: BodyShape, { bytes, first }: { bytes: number; first: string }): Buffer =>
  Buffer.from(`{${first}${FILLERS[shape](bytes)}}`);

/** Frames a body in chunks of `chunkBytes` (RFC 9112 section 7.1). */
export const toChunks = (body: Buffer, chunkBytes: number): Buffer => {
  const pieces: (Buffer | string)[] = [];
  for (let at = 0; at < body.length; at += chunkBytes) {
    const data = body.subarray(at, at + chunkBytes);
    pieces.push(`${data.length.toString(16)}\r\n`, data, '\r\n');
  }
  return Buffer.concat([...pieces, '0\r\n\r\n'].map((piece) => Buffer.from(piece)));
};
