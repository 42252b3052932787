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

type BodyShape = keyof typeof FILLERS;

const BODY_SHAPES: readonly BodyShape[] = Object.keys(FILLERS) as BodyShape[];

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

/** Attacking accounts: keys with and without a balance, and users whose subscription pays for an app's requests. */
export type Attackers = 'funded' | 'unfunded' | 'delegated';

/** An attack and its accounts. */
export interface Scenario {
  readonly name: string;
  readonly attackers: Attackers;
  readonly attack: Attack;
}

const CHAT = '/v1/chat/completions';
const DELEGATED_CHAT = '/v1/integrations/inference/chat/completions';
const LARGE_BYTES = 30_000_000;
const HONEST_BYTES = 8_000_000;
const TINY_BODY_BYTES = 5_000_000;

const bodies = (attackers: Attackers, more: Partial<BodiesAttack>): BodiesAttack => ({
  kind: 'bodies',
  shape: 'empty objects',
  bytes: LARGE_BYTES,
  connections: 4,
  isStreamed: false,
  path: attackers === 'delegated' ? DELEGATED_CHAT : CHAT,
  model: attackers === 'delegated' ? undefined : 'sink',
  ...more,
});

const ALL: readonly Attackers[] = ['unfunded', 'funded', 'delegated'];
const SPENDING: readonly Attackers[] = ['funded', 'delegated'];

const shapes = ALL.flatMap((attackers) =>
  BODY_SHAPES.map((shape) => ({ name: `4 × 30 MB, ${shape}`, attackers, attack: bodies(attackers, { shape }) })),
);

const framings = SPENDING.flatMap((attackers): Scenario[] => [
  {
    name: '4 × 30 MB, one string, in chunks of 64 KB',
    attackers,
    attack: bodies(attackers, { shape: 'one string', chunkBytes: 65_536 }),
  },
  {
    name: '4 × 5 MB, one string, in chunks of a byte',
    attackers,
    attack: bodies(attackers, { shape: 'one string', bytes: TINY_BODY_BYTES, chunkBytes: 1 }),
  },
]);

const unknownKeys = [true, false].map(
  (isWellFormed): Scenario => ({
    name: `5,000 ${isWellFormed ? 'unknown' : 'malformed'} keys a second`,
    attackers: 'unfunded',
    attack: { kind: 'keys', perSecond: 5_000, connections: 64, isWellFormed },
  }),
);

const answers = [
  ['15 MB of {} choices', 'empty-choices', false],
  ['15 MB of {} choices in one event', 'one-event', true],
  ['60 events of 1 MB with escapes', 'events', true],
] as const;

const providers = answers.map(
  ([name, model, isStreamed]): Scenario => ({
    name: `a provider that answers ${name}`,
    attackers: 'funded',
    attack: bodies('funded', { shape: 'one string', bytes: 100, connections: 8, model, isStreamed }),
  }),
);

const drips = SPENDING.flatMap((attackers): Scenario[] => [
  {
    name: '1,000 bodies of 30 MB, a kilobyte a second',
    attackers,
    attack: {
      kind: 'drip',
      connections: 1_000,
      announcedBytes: LARGE_BYTES,
      firstBytes: 1_000,
      bytesPerSecond: 1_000,
      path: bodies(attackers, {}).path,
    },
  },
  {
    name: '2,000 bodies of 60 KB that lack their end',
    attackers,
    attack: {
      kind: 'drip',
      connections: 2_000,
      announcedBytes: 62_000,
      firstBytes: 60_000,
      bytesPerSecond: 1,
      path: bodies(attackers, {}).path,
    },
  },
]);

/** All attacks of one caller on another. */
export const SCENARIOS: readonly Scenario[] = [
  ...shapes,
  ...framings,
  ...unknownKeys,
  {
    name: '8 × 8 MB, honest prompts',
    attackers: 'funded',
    attack: bodies('funded', { shape: 'many strings within bounds', bytes: HONEST_BYTES, connections: 8 }),
  },
  {
    name: '4 × 30 MB, reconnecting when answered',
    attackers: 'unfunded',
    attack: bodies('unfunded', { isImpatient: true }),
  },
  ...providers,
  ...drips,
  {
    name: '4 connections of pipelined requests without a key',
    attackers: 'unfunded',
    attack: { kind: 'pipeline', connections: 4, path: '/v1/models' },
  },
];

/** Connections that send large bodies one after the other, regardless of the responses. */
export interface BodiesAttack {
  readonly kind: 'bodies';
  readonly shape: BodyShape;
  readonly bytes: number;
  readonly connections: number;
  readonly path: string;
  /** Undefined if callers name no model. */
  readonly model: string | undefined;
  readonly isStreamed: boolean;
  /** Sends chunks of this size instead of a Content-Length. */
  readonly chunkBytes?: number;
  /** Reconnects after each response without sending the rest. */
  readonly isImpatient?: boolean;
}

/** Unknown API keys at a fixed rate. */
export interface KeysAttack {
  readonly kind: 'keys';
  readonly perSecond: number;
  readonly connections: number;
  /** Keys with a valid checksum, which only the database can reject. */
  readonly isWellFormed: boolean;
}

/** Connections that announce a large body and send it so slowly that it never ends. */
export interface DripAttack {
  readonly kind: 'drip';
  readonly connections: number;
  readonly path: string;
  readonly announcedBytes: number;
  /** Sent at once; the rest trickles. */
  readonly firstBytes: number;
  readonly bytesPerSecond: number;
}

/** Connections that pipeline many small requests and read no response. */
export interface PipelineAttack {
  readonly kind: 'pipeline';
  readonly connections: number;
  readonly path: string;
}

export type Attack = BodiesAttack | KeysAttack | DripAttack | PipelineAttack;

/** Orders of the driver to the attacking process. It answers with `ready`, nothing, or an AttackReport. */
export type AttackOrder =
  | {
      readonly order: 'prepare';
      readonly attack: Attack;
      readonly url: string;
      readonly credentials: readonly string[];
    }
  | { readonly order: 'go' }
  | { readonly order: 'stop' };

/** Result of an attack. */
export interface AttackReport {
  readonly answers: Readonly<Record<string, number>>;
  readonly megabytesSent: number;
}
