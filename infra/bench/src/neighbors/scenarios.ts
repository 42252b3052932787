import type { Attack, BodiesAttack } from './attack.ts';
import { BODY_SHAPES } from './body-shapes.ts';

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

const keys = [true, false].map(
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
  ...keys,
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
