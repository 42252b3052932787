import type { ComplianceMetadata } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { RoutedResponse, UpstreamNames } from '../forwarding/index.ts';
import { UpstreamFailure } from '../upstream-failure.ts';
import { type ChunkDigest, isSet, MessageDigest } from '../wire/index.ts';
import { attribute, coversModel } from './compliance.ts';
import type { ProofDeps } from './key-request-deps.ts';

/** Proves the provider and model of a stream from its first chunk, and checks that later chunks agree. */
export interface Attribution {
  /** Proves provider and model from the head of the response alone. Returns undefined if it lacks mandatory data. */
  readonly openLate: () => ComplianceMetadata | undefined;
  /** Returns undefined for a chunk without choices that does not name the model yet. Throws AppError if the proof is incomplete. */
  readonly open: (chunk: ChunkDigest) => ComplianceMetadata | undefined;
  /** Throws UpstreamFailure if the chunk names a model that the route does not cover. */
  readonly check: (chunk: ChunkDigest) => void;
  readonly metadata: () => ComplianceMetadata | undefined;
  /** Returns true for the failure that `check` throws. */
  readonly isAmbiguous: (failure: UpstreamFailure) => boolean;
}

interface AttributionOptions {
  /** Proves provider and model from the head of the response alone. Throws AppError if the proof is incomplete. */
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

/** Proves the provider and model of a response. Throws AppError if the proof is incomplete or ambiguous. */
export const prove = (
  deps: ProofDeps,
  requestId: string,
  { route, upstream }: RoutedResponse,
  response: { readonly id: unknown; readonly model: unknown },
): ComplianceMetadata =>
  attribute(
    { route, headers: upstream.headers, id: response.id, model: response.model },
    { requestId, ingressRegion: deps.ingressRegion, nowMs: deps.clock() },
  );

/** Creates the attribution of a route's stream. */
export const routeAttribution = (deps: ProofDeps, requestId: string, routed: RoutedResponse): Attribution =>
  createAttribution({
    attributeHead: () => prove(deps, requestId, routed, { id: undefined, model: routed.route.upstreamModel }),
    attribute: (chunk) => prove(deps, requestId, routed, chunk),
    covers: (model) => coversModel(routed.route.upstreamModel, model),
  });

/** Returns the names to record for a response. */
export const namesOf = (metadata: ComplianceMetadata | undefined): UpstreamNames => ({
  upstreamModel: metadata?.model ?? null,
  upstreamRequestId: metadata?.upstream_request_id ?? null,
});

/** Signs the proof of provenance of a response. Returns undefined if it has no digest. */
export const signProof = (
  deps: ProofDeps,
  { requestId, route, metadata, contentSha256 }: SignedResponse,
): string | undefined => {
  const { provider, model, data_zone } = metadata;
  const source = { provider, model, data_zone, certification: route.certification };
  return deps.signProvenance({ requestId, contentSha256, source });
};

interface SignedResponse {
  readonly requestId: string;
  readonly route: RoutedResponse['route'];
  readonly metadata: ComplianceMetadata;
  readonly contentSha256: string | undefined;
}

/** Proof of provenance of a stream, which its editor digests. */
export interface StreamProof {
  readonly digest: MessageDigest;
  readonly sign: (metadata: ComplianceMetadata) => string | undefined;
}

/** Opens the proof of a route's stream. */
export const openStreamProof = (deps: ProofDeps, requestId: string, { route }: RoutedResponse): StreamProof => {
  const digest = new MessageDigest();
  return { digest, sign: (metadata) => signProof(deps, { requestId, route, metadata, contentSha256: digest.value() }) };
};
