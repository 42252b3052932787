import type { ComplianceMetadata } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { UpstreamFailure } from '../upstream-failure/index.ts';
import type { ChunkDigest } from '../wire/index.ts';

/** Proves from its first chunk who serves a stream, and checks that later chunks agree. */
export interface Attribution {
  /** Returns undefined for a chunk that says nothing yet. Throws AppError if the proof is incomplete. */
  readonly open: (chunk: ChunkDigest) => ComplianceMetadata | undefined;
  /** Throws UpstreamFailure for a chunk that names a model that the route does not cover. */
  readonly check: (chunk: ChunkDigest) => void;
  readonly metadata: () => ComplianceMetadata | undefined;
  /** Returns true for the failure that `check` and `refuse` throw. */
  readonly isAmbiguous: (failure: UpstreamFailure) => boolean;
}

export interface AttributionOptions {
  /** The provider may send chunks without choices before it names its model. */
  readonly namesModelLate: boolean;
  /** Proves who served the request, from the first chunk. Throws AppError if the proof is incomplete. */
  readonly attribute: (chunk: ChunkDigest) => ComplianceMetadata;
  /** Returns true if the route covers a model that a later chunk names. */
  readonly covers: (model: string) => boolean;
}

/** The cause of breaking off a stream whose proof turned out to be wrong. */
export const AMBIGUOUS = new AppError('provider_attribution_ambiguous');

/** Returns the failure of a stream whose proof turned out to be wrong. */
export const ambiguousFailure = (): UpstreamFailure => new UpstreamFailure('garbled', { cause: AMBIGUOUS });

/** Creates the attribution of one stream. */
export const createAttribution = (options: AttributionOptions): Attribution => {
  let metadata: ComplianceMetadata | undefined;
  return {
    open: (chunk) => {
      if (options.namesModelLate && isAboutThePrompt(chunk)) return undefined;
      metadata = options.attribute(chunk);
      return metadata;
    },
    // A chunk may leave the model out, or empty. The one of the first chunk is covered.
    check: ({ model }) => {
      const isOther = typeof model === 'string' && model !== '' && model !== metadata?.model;
      if (isOther && !options.covers(model)) throw ambiguousFailure();
    },
    metadata: () => metadata,
    isAmbiguous: ({ cause }) => cause === AMBIGUOUS,
  };
};

const isAboutThePrompt = ({ choicesCount, model }: ChunkDigest): boolean => choicesCount === 0 && model === '';
