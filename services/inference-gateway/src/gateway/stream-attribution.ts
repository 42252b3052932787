import type { ComplianceMetadata } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { UpstreamFailure } from '../upstream-failure.ts';
import { type ChunkDigest, isSet } from '../wire/index.ts';

/** Proves the provider and model of a stream from its first chunk, and checks that later chunks agree. */
export interface Attribution {
  /** Proves provider and model from the head of the answer alone. Returns undefined if it lacks mandatory data. */
  readonly openLate: () => ComplianceMetadata | undefined;
  /** Returns undefined for a chunk without choices that does not name the model yet. Throws AppError if the proof is incomplete. */
  readonly open: (chunk: ChunkDigest) => ComplianceMetadata | undefined;
  /** Throws UpstreamFailure if the chunk names a model that the route does not cover. */
  readonly check: (chunk: ChunkDigest) => void;
  readonly metadata: () => ComplianceMetadata | undefined;
  /** Returns true for the failure that `check` throws. */
  readonly isAmbiguous: (failure: UpstreamFailure) => boolean;
}

export interface AttributionOptions {
  /** Proves provider and model from the head of the answer alone. Throws AppError if the proof is incomplete. */
  readonly attributeHead: () => ComplianceMetadata;
  /** Proves provider and model from the first chunk. Throws AppError if the proof is incomplete. */
  readonly attribute: (chunk: ChunkDigest) => ComplianceMetadata;
  /** Returns true if the route covers a model that a later chunk names. */
  readonly covers: (model: string) => boolean;
}

/** Cause of the failure of a stream whose proof turned out to be wrong. */
export const AMBIGUOUS = new AppError('provider_attribution_ambiguous');

/** Returns the failure of a stream whose proof turned out to be wrong. */
export const ambiguousFailure = (): UpstreamFailure => new UpstreamFailure('garbled', { cause: AMBIGUOUS });

/** Creates the attribution of one stream. */
export const createAttribution = (options: AttributionOptions): Attribution => {
  let metadata: ComplianceMetadata | undefined;
  return {
    openLate: () => {
      try {
        metadata = options.attributeHead();
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
      }
      return metadata;
    },
    open: (chunk) => {
      if (chunk.choicesCount === 0 && !isSet(chunk.model)) return undefined;
      const proof = options.attribute(chunk);
      // The headers may have named the time already.
      metadata = metadata === undefined ? proof : { ...proof, timestamp: metadata.timestamp };
      return metadata;
    },
    // Chunks may omit the model or leave it empty. The model of the first chunk is known to be covered.
    check: ({ model }) => {
      const isOther = typeof model === 'string' && model !== '' && model !== metadata?.model;
      if (isOther && !options.covers(model)) throw ambiguousFailure();
    },
    metadata: () => metadata,
    isAmbiguous: ({ cause }) => cause === AMBIGUOUS,
  };
};
