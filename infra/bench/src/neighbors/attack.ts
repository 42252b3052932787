import type { BodyShape } from './body-shapes.ts';

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
