import type { ComplianceMetadata } from '@svc/contracts';
import type { RoutedAnswer, UpstreamNames } from '../completions/index.ts';
import { attribute, coversModel } from '../compliance.ts';
import { MessageDigest } from '../wire/index.ts';
import type { KeyRequestDeps } from './key-request-deps.ts';
import { type Attribution, createAttribution } from './stream-attribution.ts';

export type ProofDeps = Pick<KeyRequestDeps, 'ingressRegion' | 'clock' | 'signProvenance'>;

/** Proves the provider and model of an answer. Throws AppError if the proof is incomplete or ambiguous. */
export const prove = (
  deps: ProofDeps,
  requestId: string,
  { route, upstream }: RoutedAnswer,
  answer: { readonly id: unknown; readonly model: unknown },
): ComplianceMetadata =>
  attribute(
    { route, headers: upstream.headers, id: answer.id, model: answer.model },
    { requestId, ingressRegion: deps.ingressRegion, nowMs: deps.clock() },
  );

/** Creates the attribution of a route's stream. */
export const routeAttribution = (deps: ProofDeps, requestId: string, routed: RoutedAnswer): Attribution =>
  createAttribution({
    attributeHead: () => prove(deps, requestId, routed, { id: undefined, model: routed.route.upstreamModel }),
    attribute: (chunk) => prove(deps, requestId, routed, chunk),
    covers: (model) => coversModel(routed.route.upstreamModel, model),
  });

/** Returns the names to record for an answer. */
export const namesOf = (metadata: ComplianceMetadata | undefined): UpstreamNames => ({
  upstreamModel: metadata?.model ?? null,
  upstreamRequestId: metadata?.upstream_request_id ?? null,
});

/** Signs the proof of provenance of an answer. Returns undefined if it has no digest. */
export const signProof = (
  deps: ProofDeps,
  { requestId, route, metadata, contentSha256 }: SignedAnswer,
): string | undefined => {
  const { provider, model, data_zone } = metadata;
  const source = { provider, model, data_zone, certification: route.certification };
  return deps.signProvenance({ requestId, contentSha256, source });
};

interface SignedAnswer {
  readonly requestId: string;
  readonly route: RoutedAnswer['route'];
  readonly metadata: ComplianceMetadata;
  readonly contentSha256: string | undefined;
}

/** Proof of provenance of a stream, which its editor digests. */
export interface StreamProof {
  readonly digest: MessageDigest;
  readonly sign: (metadata: ComplianceMetadata) => string | undefined;
}

/** Opens the proof of a route's stream. */
export const openStreamProof = (deps: ProofDeps, requestId: string, { route }: RoutedAnswer): StreamProof => {
  const digest = new MessageDigest();
  return { digest, sign: (metadata) => signProof(deps, { requestId, route, metadata, contentSha256: digest.value() }) };
};
