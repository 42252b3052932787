import type { BodyShape } from './body-shapes.ts';

/** Connections that send large bodies one after the other, whatever they are answered. */
export interface BodiesAttack {
  readonly kind: 'bodies';
  readonly shape: BodyShape;
  readonly bytes: number;
  readonly connections: number;
  readonly path: string;
  /** Undefined where callers name no model. */
  readonly model: string | undefined;
  readonly isStreamed: boolean;
  /** Sends chunks of so many bytes instead of a Content-Length. */
  readonly chunkBytes?: number;
  /** Connects anew as soon as it is answered, without sending the rest. */
  readonly isImpatient?: boolean;
}

/** API keys that do not exist, at a rate that does not wait for answers. */
export interface KeysAttack {
  readonly kind: 'keys';
  readonly perSecond: number;
  readonly connections: number;
  /** Keys with a right checksum, which only the database can refuse. */
  readonly isWellFormed: boolean;
}

/** Connections that announce a large body and send it so slowly that it never ends. */
export interface DripAttack {
  readonly kind: 'drip';
  readonly connections: number;
  readonly path: string;
  readonly announcedBytes: number;
  /** Sent at once; the rest drips. */
  readonly firstBytes: number;
  readonly bytesPerSecond: number;
}

/** Connections that write many small requests at once, and read no answer. */
export interface PipelineAttack {
  readonly kind: 'pipeline';
  readonly connections: number;
  readonly path: string;
}

export type Attack = BodiesAttack | KeysAttack | DripAttack | PipelineAttack;

/** Orders of the driver to the attacking process. It answers `ready`, nothing, and an AttackReport. */
export type AttackOrder =
  | {
      readonly order: 'prepare';
      readonly attack: Attack;
      readonly url: string;
      readonly credentials: readonly string[];
    }
  | { readonly order: 'go' }
  | { readonly order: 'stop' };

/** What an attack came to. */
export interface AttackReport {
  readonly answers: Readonly<Record<string, number>>;
  readonly megabytesSent: number;
}
